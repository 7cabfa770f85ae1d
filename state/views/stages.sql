-- One row a stage of a run, and how long it took (waiting included).
--
--   run_id        the run
--   stage         planning, knowledge_base, report_writing, publishing and so on
--   started_at    when it began, UTC
--   completed_at  when it ended, UTC; null while it is open
--   duration_s    seconds between the two
SELECT
    run_id,
    facts.stage AS stage,
    min(time) FILTER (WHERE type = 'stage_started') AS started_at,
    max(time) FILTER (WHERE type = 'stage_completed') AS completed_at,
    (
        epoch_ms(max(time) FILTER (WHERE type = 'stage_completed'))
        - epoch_ms(min(time) FILTER (WHERE type = 'stage_started'))
    ) / 1000 AS duration_s
FROM events
WHERE type IN ('stage_started', 'stage_completed')
GROUP BY run_id, facts.stage
