-- How runs ended, by the week in which they were asked for.
-- None: there are no runs.
--
--   week        [date]  the Monday the week began with
--   runs        [n]     runs that were asked for
--   answered    [n]     completed with an answer, or with code whose tests passed
--   conflict    [n]     completed, the sources in conflict
--   no_answer   [n]     completed without enough evidence
--   asked_back  [n]     ended with a question put back
--   failed      [n]     failed
--   cancelled   [n]     cancelled
--   open        [n]     not ended yet
SELECT
    CAST(date_trunc('week', queued_at) AS DATE) AS week,
    count(*) AS runs,
    count(*) FILTER (
        WHERE status = 'completed' AND answer_status IN ('answered', 'completed', 'verified')
    ) AS answered,
    count(*) FILTER (WHERE answer_status = 'conflicting-evidence') AS conflict,
    count(*) FILTER (WHERE answer_status = 'insufficient-evidence') AS no_answer,
    count(*) FILTER (WHERE answer_status = 'needs-clarification') AS asked_back,
    count(*) FILTER (WHERE status = 'failed') AS failed,
    count(*) FILTER (WHERE status = 'cancelled') AS cancelled,
    count(*) FILTER (WHERE status NOT IN ('completed', 'failed', 'cancelled')) AS open
FROM runs
JOIN chosen USING (run_id)
GROUP BY week
ORDER BY week
