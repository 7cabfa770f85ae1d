SELECT
    run_id,
    position,
    time,
    'step' AS what,
    concat_ws(' ', nullif(split_part(call_id, '/', 3), ''), turn_id) AS target,
    body_json ->> 'code' AS code,
    body_json ->> 'message' AS reason
FROM events
WHERE type = 'effect_failed'
UNION ALL
SELECT
    run_id, position, time, 'source', body_json ->> 'locator', body_json ->> 'code',
    body_json ->> 'reason'
FROM events
WHERE type = 'research_source_skipped'
UNION ALL
SELECT
    run_id, position, time, 'reference', body_json ->> 'locator', 'REFERENCE_FAILED',
    body_json ->> 'reason'
FROM events
WHERE type = 'code_reference_recorded' AND body_json ->> 'outcome' = 'failed'
UNION ALL
SELECT
    run_id, position, time, 'dependencies', run_id, 'DEPENDENCIES_FAILED', body_json ->> 'reason'
FROM events
WHERE type = 'code_dependencies_installed' AND body_json ->> 'outcome' = 'failed'
UNION ALL
SELECT
    run_id, position, time, 'verification', body_json ->> 'attempt', body_json ->> 'verdict',
    body_json ->> 'reason'
FROM events
WHERE type = 'code_verified' AND body_json ->> 'verdict' <> 'passed'
UNION ALL
SELECT
    run_id, position, time, 'run', run_id, body_json ->> 'code',
    coalesce(body_json ->> 'message', body_json ->> 'reason')
FROM events
WHERE type IN ('run_failed', 'run_interrupted')
UNION ALL
SELECT
    run_id, position, time, 'review', body_json ->> 'interaction_id', body_json ->> 'reason',
    body_json ->> 'action'
FROM events
WHERE type = 'review_refused'
