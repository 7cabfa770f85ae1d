-- One row a file that was written: what it is now, and how often it was written.
--
--   run_id            the run
--   path              its path in the workspace
--   role              source, test, document, configuration or data
--   is_planned        whether the present version of the plan has it
--   repair            the repair that wrote it last; 0 for none
--   times_written     how often it was written
--   bytes             its size
--   content_hash      the content hash of what it is now
--   first_written_at  when it was first written, UTC
--   written_at        when it was last written, UTC
WITH present AS (
    SELECT run_id, arg_max(facts.paths_planned, position) AS paths
    FROM events
    WHERE type = 'code_plan_recorded'
    GROUP BY run_id
), file AS (
    SELECT
        run_id,
        facts.path AS path,
        arg_max(facts.role, position) AS role,
        arg_max(facts.attempt, position) AS repair,
        count(*) AS times_written,
        arg_max(facts.size, position) AS bytes,
        arg_max(facts.content_hash, position) AS content_hash,
        min(time) AS first_written_at,
        max(time) AS written_at
    FROM events
    WHERE type = 'code_file_recorded'
    GROUP BY run_id, facts.path
)
SELECT
    file.run_id,
    file.path,
    file.role,
    coalesce(list_contains(present.paths, file.path), false) AS is_planned,
    file.repair,
    file.times_written,
    file.bytes,
    file.content_hash,
    file.first_written_at,
    file.written_at
FROM file
LEFT JOIN present ON present.run_id = file.run_id
