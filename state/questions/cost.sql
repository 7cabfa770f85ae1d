-- What a supported claim costs, by profile and scope.
-- Work is the time of all steps together, whether or not they ran at once.
-- None: no run has made a step.
--
--   profile               the report's profile; all for the sum of several
--   scope                 how much work was asked for
--   runs           [n]    how many runs
--   supported      [n]    claims that checking found supported
--   cost_usd       [usd]  what the steps cost
--   cost_each_usd  [usd]  cost for each supported claim
--   tokens_each    [n]    tokens for each supported claim
--   work_each_s    [s]    work for each supported claim
SELECT
    CASE WHEN grouping(profile) = 1 THEN 'all' ELSE coalesce(profile, kind) END AS profile,
    CASE WHEN grouping(scope) = 1 THEN 'all' ELSE coalesce(scope, '') END AS scope,
    count(*) AS runs,
    CAST(sum(supported) AS BIGINT) AS supported,
    sum(cost) / 1e6 AS cost_usd,
    sum(cost) / 1e6 / nullif(sum(supported), 0) AS cost_each_usd,
    CAST(round(sum(tokens) / nullif(sum(supported), 0)) AS BIGINT) AS tokens_each,
    sum(work) / 1e3 / nullif(sum(supported), 0) AS work_each_s
FROM (
    SELECT
        run_id,
        sum(cost_micro_usd) AS cost,
        sum(input_tokens + cached_tokens + output_tokens) AS tokens,
        sum(duration_ms) AS work
    FROM steps
    JOIN chosen USING (run_id)
    GROUP BY run_id
)
JOIN runs USING (run_id)
GROUP BY GROUPING SETS ((kind, profile, scope), ())
HAVING grouping(profile) = 0 OR count(DISTINCT (kind, profile, scope)) > 1
ORDER BY grouping(profile), 1, 2
