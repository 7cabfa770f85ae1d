-- One row a run that a process executes, or whose process did not say that it was done.
--
--   run_id      the run
--   is_live     whether nobody else may execute it now
--   epoch       how often it was taken up
--   pid         the process
--   host        the machine it runs on
--   command     what it was started as
--   since       when it took the run up, UTC
--   expires_at  until when it may execute the run unless it says again that it is there
SELECT
    h.run_id,
    l.expires_at > clock_timestamp() AS is_live,
    l.epoch,
    l.pid,
    l.host,
    l.command,
    l.since,
    l.expires_at
FROM run_leases AS l
JOIN run_heads AS h USING (run)
WHERE l.token IS NOT NULL
