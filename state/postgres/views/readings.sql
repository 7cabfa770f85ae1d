WITH possible AS (
    SELECT
        run_id,
        CAST(body_json ->> 'round' AS INTEGER) AS round,
        spelled #>> '{}' AS locator,
        encode(
            sha256(convert_to('{"locator":' || spelled::text || '}', 'UTF8')), 'hex'
        ) AS input_hash
    FROM events
    CROSS JOIN jsonb_array_elements(body_json -> 'locators') AS spelled
    WHERE type = 'research_reading_frozen'
)
SELECT
    s.run_id,
    s.call_id,
    s.round,
    p.locator,
    CASE
        WHEN position('://' IN p.locator) > 0
        THEN lower((regexp_match(p.locator, '://(?:[^/?#@]*@)?(\[[^]]*\]|[^/?#:]*)'))[1])
        ELSE regexp_replace(p.locator, '/[^/]*$', '')
    END AS place,
    s.state,
    s.code,
    s.duration_ms,
    s.started_at
FROM steps AS s
LEFT JOIN possible AS p
    ON p.run_id = s.run_id AND p.round = s.round AND p.input_hash = s.input_hash
WHERE s.verb = 'read' AND s.reused_from IS NULL
