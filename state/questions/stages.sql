-- How long each stage takes, by the kind of run.
-- None: no run has begun a stage.
--
--   kind                research or paper2code
--   stage               the stage, in the order of the method
--   runs       [n]      how many runs completed it
--   open       [n]      how many began it and did not complete it
--   median_s   [s]      half of them took no longer
--   p95_s      [s]      95 of 100 took no longer
--   longest_s  [s]      the longest
--   share      [share]  its share of the time of all completed stages of that kind
SELECT
    kind,
    stage,
    count(duration_s) AS runs,
    count(*) - count(duration_s) AS open,
    median(duration_s) AS median_s,
    quantile_cont(duration_s, 0.95) AS p95_s,
    max(duration_s) AS longest_s,
    sum(duration_s) / nullif(sum(sum(duration_s)) OVER (PARTITION BY kind), 0) AS share
FROM (
    SELECT *, row_number() OVER (PARTITION BY run_id ORDER BY started_at) AS nth
    FROM stages
    JOIN chosen USING (run_id)
    JOIN (SELECT run_id, kind FROM runs) USING (run_id)
)
GROUP BY kind, stage
ORDER BY
    kind DESC,
    list_position([
        'preparing', 'acquiring_input', 'extracting_document', 'segmenting_document', 'planning',
        'plan_review', 'collecting_references', 'indexing', 'implementing', 'verifying',
        'finalizing'
    ], stage),
    min(nth),
    stage
