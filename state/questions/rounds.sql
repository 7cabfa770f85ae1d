-- How far runs come with each round, and how many rounds it takes.
-- None: no run has assessed a round.
--
--   round       [n]      the round, from 1
--   runs        [n]      runs that assessed it
--   coverage    [share]  the mean share of subquestions covered after it
--   done        [n]      runs whose every subquestion was covered first after it
--   done_share  [share]  the share of all runs that were covered by then
--   sources     [ratio]  sources it was to read, in the mean
--   new_quotes  [ratio]  quotes it added, in the mean
WITH reached AS (
    SELECT
        *,
        covered = subquestions AND NOT coalesce(
            bool_or(covered = subquestions) OVER (
                PARTITION BY run_id ORDER BY round ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ),
            false
        ) AS is_done
    FROM rounds
    JOIN chosen USING (run_id)
)
SELECT
    round,
    count(*) AS runs,
    avg(covered / nullif(subquestions, 0)) AS coverage,
    count(*) FILTER (WHERE is_done) AS done,
    sum(count(*) FILTER (WHERE is_done)) OVER (ORDER BY round)
        / (SELECT count(DISTINCT run_id) FROM reached) AS done_share,
    avg(sources) AS sources,
    avg(new_quotes) AS new_quotes
FROM reached
GROUP BY round
ORDER BY round
