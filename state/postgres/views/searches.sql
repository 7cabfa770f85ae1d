WITH scheduled AS (
    SELECT
        run_id,
        CAST(body_json ->> 'round' AS INTEGER) AS round,
        entry
    FROM events
    CROSS JOIN jsonb_array_elements(body_json -> 'queries') AS entry
    WHERE type = 'research_schedule_frozen'
), could_ask AS (
    SELECT
        run_id,
        jsonb_array_elements_text(body_json #> '{request,search_providers}') AS provider
    FROM events
    WHERE type = 'research_started'
    UNION ALL
    SELECT run_id, 'local' FROM events WHERE type = 'research_started'
), possible AS (
    SELECT
        run_id,
        round,
        provider,
        entry ->> 'query' AS query,
        entry ->> 'subquestion_id' AS subquestion_id,
        -- Canonical JSON: keys in order, no spaces.
        encode(sha256(convert_to(concat(
            '{"provider":', to_json(provider),
            ',"query":', entry -> 'query',
            ',"subquestion_id":', entry -> 'subquestion_id', '}'
        ), 'UTF8')), 'hex') AS input_hash
    FROM scheduled
    JOIN could_ask USING (run_id)
)
SELECT
    s.run_id,
    s.call_id,
    s.round,
    p.subquestion_id,
    p.provider,
    p.query,
    s.state,
    s.code,
    s.duration_ms,
    s.started_at
FROM steps AS s
LEFT JOIN possible AS p
    ON p.run_id = s.run_id AND p.round = s.round AND p.input_hash = s.input_hash
WHERE s.verb = 'search' AND s.reused_from IS NULL
