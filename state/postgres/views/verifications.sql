SELECT
    run_id,
    CAST(body_json ->> 'attempt' AS INTEGER) AS attempt,
    body_json ->> 'verdict' AS verdict,
    body_json ->> 'level' AS level,
    CAST(body_json ->> 'commands' AS INTEGER) AS commands,
    CAST(body_json ->> 'executed' AS INTEGER) AS executed,
    CAST(body_json ->> 'passed' AS INTEGER) AS passed,
    CAST(body_json ->> 'failed' AS INTEGER) AS failed,
    CAST(body_json ->> 'skipped' AS INTEGER) AS skipped,
    jsonb_array_length(body_json -> 'tampered') AS tampered,
    body_json ->> 'reason' AS reason,
    time AS verified_at
FROM events
WHERE type = 'code_verified'
