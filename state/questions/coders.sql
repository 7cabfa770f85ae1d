-- Which models write code whose tests pass, and at what cost.
-- What counts are runs that wrote at least one file.
-- None: no run has written a file.
--
--   model                    the language model that was asked for
--   runs            [n]      runs that wrote code
--   complete        [n]      of them, runs with every file there and every test passed
--   complete_share  [share]  their share
--   files           [ratio]  files that were written, in the mean
--   repairs         [ratio]  repairs that were made, in the mean
--   cost_usd        [usd]    what their steps cost
--   median_s        [s]      half of the complete ones took no longer, waiting included
SELECT
    model,
    count(*) AS runs,
    count(*) FILTER (WHERE outcome = 'complete') AS complete,
    count(*) FILTER (WHERE outcome = 'complete') / count(*) AS complete_share,
    avg(written) AS files,
    avg(repairs) AS repairs,
    coalesce(sum(cost), 0) / 1e6 AS cost_usd,
    median(duration_s) FILTER (WHERE outcome = 'complete') AS median_s
FROM code_runs
JOIN chosen USING (run_id)
JOIN (SELECT run_id, duration_s FROM runs) USING (run_id)
LEFT JOIN (SELECT run_id, sum(cost_micro_usd) AS cost FROM steps GROUP BY run_id) USING (run_id)
WHERE written > 0
GROUP BY model
ORDER BY complete_share DESC, runs DESC, model
