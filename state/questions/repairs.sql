-- How many repairs it takes until the tests of code pass.
-- None: no code was verified.
--
--   repairs       [n]      repairs that were made
--   runs          [n]      runs that made so many
--   passed        [n]      of them, runs whose tests passed in the end
--   passed_share  [share]  the share of all verified runs that had passed by then
SELECT
    repairs,
    count(*) AS runs,
    count(*) FILTER (WHERE verdict = 'passed') AS passed,
    sum(count(*) FILTER (WHERE verdict = 'passed')) OVER (ORDER BY repairs)
        / sum(count(*)) OVER () AS passed_share
FROM code_runs
JOIN chosen USING (run_id)
WHERE verifications > 0
GROUP BY repairs
ORDER BY repairs
