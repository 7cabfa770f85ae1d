SELECT
    run_id,
    CAST(body_json ->> 'version' AS INTEGER) AS version,
    body_json ->> 'origin' AS origin,
    body_json ->> 'title' AS title,
    jsonb_array_length(body_json -> 'paths_planned') AS files,
    CAST(body_json ->> 'citations' AS INTEGER) AS citations,
    CAST(body_json ->> 'located' AS INTEGER) AS located,
    CAST(body_json ->> 'ambiguities' AS INTEGER) AS ambiguities,
    body_json ->> 'plan_hash' AS plan_hash,
    time AS recorded_at
FROM events
WHERE type = 'code_plan_recorded'
