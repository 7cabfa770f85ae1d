-- How long each stage takes.
-- None: no run has begun a stage.
--
--   stage               the stage, in the order of its first start
--   runs       [n]      how many runs completed it
--   open       [n]      how many began it and did not complete it
--   median_s   [s]      half of them took no longer
--   p95_s      [s]      95 of 100 took no longer
--   longest_s  [s]      the longest
--   share      [share]  its share of the time of all completed stages
SELECT
    stage,
    count(duration_s) AS runs,
    count(*) - count(duration_s) AS open,
    median(duration_s) AS median_s,
    quantile_cont(duration_s, 0.95) AS p95_s,
    max(duration_s) AS longest_s,
    sum(duration_s) / nullif(sum(sum(duration_s)) OVER (), 0) AS share
FROM (
    SELECT *, row_number() OVER (PARTITION BY run_id ORDER BY started_at) AS nth
    FROM stages
    JOIN chosen USING (run_id)
)
GROUP BY stage
ORDER BY min(nth), stage
