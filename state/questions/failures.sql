-- What goes wrong, by code, and in which run last.
-- `assay show RUN` tells more.
-- None: nothing went wrong.
--
--   what              what failed: step, source, run or review
--   code              why, for programs
--   times     [n]     how often
--   runs      [n]     in how many runs
--   last_on   [date]  when it last happened
--   last_run  [id]    in which run
SELECT
    what,
    code,
    count(*) AS times,
    count(DISTINCT run_id) AS runs,
    CAST(max(time) AS DATE) AS last_on,
    arg_max(run_id, (time, run_id)) AS last_run
FROM failures
JOIN chosen USING (run_id)
GROUP BY what, code
ORDER BY times DESC, what, code
