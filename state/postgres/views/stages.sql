SELECT
    run_id,
    body_json ->> 'stage' AS stage,
    min(time) FILTER (WHERE type = 'stage_started') AS started_at,
    max(time) FILTER (WHERE type = 'stage_completed') AS completed_at,
    CAST(extract(
        epoch FROM max(time) FILTER (WHERE type = 'stage_completed')
        - min(time) FILTER (WHERE type = 'stage_started')
    ) AS DOUBLE PRECISION) AS duration_s
FROM events
WHERE type IN ('stage_started', 'stage_completed')
GROUP BY run_id, body_json ->> 'stage'
