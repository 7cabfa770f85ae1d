WITH present AS (
    SELECT
        run_id,
        (array_agg(body_json -> 'paths_planned' ORDER BY position DESC))[1] AS paths
    FROM events
    WHERE type = 'code_plan_recorded'
    GROUP BY run_id
), file AS (
    SELECT
        run_id,
        body_json ->> 'path' AS path,
        (array_agg(body_json ORDER BY position DESC))[1] AS body,
        count(*) AS times_written,
        min(time) AS first_written_at,
        max(time) AS written_at
    FROM events
    WHERE type = 'code_file_recorded'
    GROUP BY run_id, body_json ->> 'path'
)
SELECT
    file.run_id,
    file.path,
    file.body ->> 'role' AS role,
    coalesce(present.paths ? file.path, false) AS is_planned,
    CAST(file.body ->> 'attempt' AS INTEGER) AS repair,
    file.times_written,
    CAST(file.body ->> 'size' AS BIGINT) AS bytes,
    file.body ->> 'content_hash' AS content_hash,
    file.first_written_at,
    file.written_at
FROM file
LEFT JOIN present ON present.run_id = file.run_id
