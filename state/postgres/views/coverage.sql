SELECT
    run_id,
    CAST(body_json ->> 'round' AS INTEGER) AS round,
    answered ->> 'subquestion_id' AS subquestion_id,
    answered ->> 'coverage' AS coverage,
    CAST(jsonb_array_length(answered -> 'evidence_ids') AS BIGINT) AS quotes,
    answered ->> 'gap' AS gap,
    position = max(position) OVER (PARTITION BY run_id) AS is_last,
    time AS assessed_at
FROM events
CROSS JOIN jsonb_array_elements(body_json -> 'rows') AS answered
WHERE type = 'research_coverage_assessed'
