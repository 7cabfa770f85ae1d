-- How often each search provider fails, and how long it takes.
-- None: no search was made.
--
--   provider               who was asked; unknown when no record tells
--   searches      [n]      searches made, those of retried runs that were taken over left out
--   failed        [n]      of them failed
--   failed_share  [share]  their share of those that ended
--   p50_ms        [ms]     half of those that settled took no longer
--   p95_ms        [ms]     95 of 100
--   p99_ms        [ms]     99 of 100
--   last_failure           the code of its last failure
SELECT
    coalesce(provider, 'unknown') AS provider,
    count(*) AS searches,
    count(*) FILTER (WHERE state = 'failed') AS failed,
    count(*) FILTER (WHERE state = 'failed')
        / nullif(count(*) FILTER (WHERE state <> 'reserved'), 0) AS failed_share,
    quantile_disc(duration_ms, 0.5) FILTER (WHERE state = 'settled') AS p50_ms,
    quantile_disc(duration_ms, 0.95) FILTER (WHERE state = 'settled') AS p95_ms,
    quantile_disc(duration_ms, 0.99) FILTER (WHERE state = 'settled') AS p99_ms,
    arg_max(code, started_at) FILTER (WHERE state = 'failed') AS last_failure
FROM searches
JOIN chosen USING (run_id)
GROUP BY provider
ORDER BY searches DESC, provider
