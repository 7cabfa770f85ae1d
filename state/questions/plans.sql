-- How well code plans are backed by what they are made from.
-- What counts is the present version of each plan.
-- None: no code was planned.
--
--   source_type              local, url, repository or requirement
--   runs            [n]      runs with a plan
--   versions        [ratio]  versions of a plan, in the mean
--   files           [ratio]  files planned, in the mean
--   quotes          [n]      quotes of the source that plans rest on
--   found           [n]      of them, quotes that stand in the source's text
--   found_share     [share]  their share
--   ambiguities     [ratio]  questions that the source leaves open, in the mean
SELECT
    source_type,
    count(*) AS runs,
    avg(plan_versions) AS versions,
    avg(planned) AS files,
    CAST(sum(citations) AS BIGINT) AS quotes,
    CAST(sum(located) AS BIGINT) AS found,
    sum(located) / nullif(sum(citations), 0) AS found_share,
    avg(ambiguities) AS ambiguities
FROM code_runs
JOIN chosen USING (run_id)
WHERE plan_versions > 0
GROUP BY source_type
ORDER BY runs DESC, source_type
