-- How often steps are begun again, fail, or are taken over.
-- A step is begun again when its process died; what a task repeats by itself is not recorded. The
-- outcome of a step is taken over from the run that was retried.
-- None: no run has made a step.
--
--   operation              what the steps did: search, read, assess and so on
--   steps         [n]      how many steps
--   attempts      [n]      how often they were begun
--   repeated      [n]      steps that were begun more than once
--   most          [n]      the most often one was begun
--   failed        [n]      steps that failed for good
--   failed_share  [share]  their share of those that ended
--   open          [n]      steps that have not ended
--   taken_over    [n]      steps whose outcome was taken over, at no cost
SELECT
    verb AS operation,
    count(*) AS steps,
    CAST(sum(attempts) AS BIGINT) AS attempts,
    count(*) FILTER (WHERE attempts > 1) AS repeated,
    max(attempts) AS most,
    count(*) FILTER (WHERE state = 'failed') AS failed,
    count(*) FILTER (WHERE state = 'failed')
        / nullif(count(*) FILTER (WHERE state <> 'reserved'), 0) AS failed_share,
    count(*) FILTER (WHERE state = 'reserved') AS open,
    count(reused_from) AS taken_over
FROM steps
JOIN chosen USING (run_id)
GROUP BY verb
ORDER BY steps DESC, operation
