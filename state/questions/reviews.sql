-- How long plans wait for a person, by what was decided.
-- An open request counts from when it was made until now.
-- None: no plan was put before a person.
--
--   decision        approve, revise, replace or cancel; open; run cancelled, or never answered
--   requests   [n]  how many requests
--   runs       [n]  of how many runs
--   median_s   [s]  half of them were answered within
--   p95_s      [s]  95 of 100
--   longest_s  [s]  the longest
SELECT
    decision,
    count(*) AS requests,
    count(DISTINCT run_id) AS runs,
    median(waited_s) AS median_s,
    quantile_cont(waited_s, 0.95) AS p95_s,
    max(waited_s) AS longest_s
FROM (
    SELECT
        run_id,
        CASE
            WHEN action IS NOT NULL THEN action
            WHEN status = 'cancelled' THEN 'run cancelled'
            WHEN ended_at IS NOT NULL THEN 'never answered'
            ELSE 'open'
        END AS decision,
        (epoch_ms(coalesce(answered_at, ended_at, asked_at)) - epoch_ms(requested_at)) / 1000
            AS waited_s
    FROM reviews
    JOIN chosen USING (run_id)
    JOIN (SELECT run_id, ended_at, status FROM runs) USING (run_id)
    CROSS JOIN period
)
GROUP BY decision
ORDER BY requests DESC, decision
