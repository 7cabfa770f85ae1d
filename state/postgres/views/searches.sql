WITH possible AS (
    SELECT
        q.run_id,
        CAST(q.body_json ->> 'round' AS INTEGER) AS round,
        asked.provider,
        entry ->> 'query' AS query,
        entry ->> 'subquestion_id' AS subquestion_id,
        -- Canonical JSON: keys in order, no spaces.
        encode(sha256(convert_to(concat(
            '{"provider":', to_json(asked.provider),
            ',"query":', entry -> 'query',
            ',"subquestion_id":', entry -> 'subquestion_id', '}'
        ), 'UTF8')), 'hex') AS input_hash
    FROM events AS q
    JOIN events AS r ON r.run_id = q.run_id AND r.type = 'research_started'
    CROSS JOIN jsonb_array_elements(q.body_json -> 'queries') AS entry
    CROSS JOIN LATERAL (
        SELECT jsonb_array_elements_text(r.body_json #> '{request,search_providers}')
        UNION ALL
        SELECT 'local'
    ) AS asked (provider)
    WHERE q.type = 'research_schedule_frozen'
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
