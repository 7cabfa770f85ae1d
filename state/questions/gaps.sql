-- How often subquestions end as gaps or in conflict, by scope.
-- What counts is the last round that each run assessed.
-- None: no run has assessed a round.
--
--   scope                    how much work was asked for; all for the sum of several
--   runs            [n]      runs that assessed a round
--   subquestions    [n]      their subquestions
--   covered         [n]      of them covered
--   gaps            [n]      of them gaps
--   conflicts       [n]      of them in conflict
--   gap_share       [share]  the share of gaps
--   conflict_share  [share]  the share of conflicts
SELECT
    CASE WHEN grouping(scope) = 1 THEN 'all' ELSE scope END AS scope,
    count(DISTINCT run_id) AS runs,
    count(*) AS subquestions,
    count(*) FILTER (WHERE coverage = 'covered') AS covered,
    count(*) FILTER (WHERE coverage = 'gap') AS gaps,
    count(*) FILTER (WHERE coverage = 'conflict') AS conflicts,
    count(*) FILTER (WHERE coverage = 'gap') / count(*) AS gap_share,
    count(*) FILTER (WHERE coverage = 'conflict') / count(*) AS conflict_share
FROM (SELECT run_id, coverage FROM coverage WHERE is_last)
JOIN chosen USING (run_id)
JOIN (SELECT run_id, scope FROM runs) USING (run_id)
GROUP BY GROUPING SETS ((scope), ())
HAVING grouping(scope) = 0 OR count(DISTINCT scope) > 1
ORDER BY grouping(scope), 1
