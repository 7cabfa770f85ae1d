-- Which runs have stopped without an end, the longest silent first.
-- They wait, were interrupted, or recorded nothing for 15 minutes. `assay review` answers a waiting
-- one, `assay resume` goes on with an interrupted one.
-- None: no run is stuck.
--
--   run_id     [id]  the run
--   status           queued, running, waiting or interrupted
--   silent_s   [s]   since its last event
--   stands_at        the stage it stands in, or what it waits for
--   question         what is to be found out
SELECT
    run_id,
    status,
    (epoch_ms(asked_at) - epoch_ms(updated_at)) / 1000 AS silent_s,
    CASE status
        WHEN 'waiting' THEN 'plan review'
        WHEN 'queued' THEN 'queue'
        ELSE coalesce(stage, 'between stages')
    END AS stands_at,
    coalesce(question, '') AS question
FROM runs
JOIN chosen USING (run_id)
CROSS JOIN period
LEFT JOIN (
    SELECT run_id, arg_max(stage, started_at) AS stage
    FROM stages
    WHERE completed_at IS NULL
    GROUP BY run_id
) USING (run_id)
WHERE status IN ('waiting', 'interrupted')
    OR (status IN ('queued', 'running') AND asked_at - updated_at > INTERVAL 15 MINUTE)
ORDER BY silent_s DESC, run_id
