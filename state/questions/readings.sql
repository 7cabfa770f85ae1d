-- How often reading fails, by host or folder, and how long it takes.
-- The twenty that were read most.
-- None: no source was opened.
--
--   place         [path]   the host of a URL, the folder of a file; unknown when no record tells
--   readings      [n]      sources opened, those of retried runs that were taken over left out
--   failed        [n]      of them failed
--   failed_share  [share]  their share of those that ended
--   p50_ms        [ms]     half of those that settled took no longer
--   p95_ms        [ms]     95 of 100
--   p99_ms        [ms]     99 of 100
--   last_failure           the code of the last failure
SELECT
    coalesce(place, 'unknown') AS place,
    count(*) AS readings,
    count(*) FILTER (WHERE state = 'failed') AS failed,
    count(*) FILTER (WHERE state = 'failed')
        / nullif(count(*) FILTER (WHERE state <> 'reserved'), 0) AS failed_share,
    quantile_disc(duration_ms, 0.5) FILTER (WHERE state = 'settled') AS p50_ms,
    quantile_disc(duration_ms, 0.95) FILTER (WHERE state = 'settled') AS p95_ms,
    quantile_disc(duration_ms, 0.99) FILTER (WHERE state = 'settled') AS p99_ms,
    arg_max(code, started_at) FILTER (WHERE state = 'failed') AS last_failure
FROM readings
JOIN chosen USING (run_id)
GROUP BY place
ORDER BY readings DESC, place
LIMIT 20
