-- One row a run: where it ends, how far its chain was checked, and why not further.
--
--   run_id            the run
--   last_position     the position of its last event
--   last_hash         the hash of that event
--   checked_position  up to which event its chain was checked since it was written
--   quarantined       what is damaged; null when it is sound
SELECT
    h.run_id,
    h.position AS last_position,
    h.hash AS last_hash,
    coalesce(c.position, 0) AS checked_position,
    c.quarantined
FROM run_heads AS h
LEFT JOIN run_checks AS c USING (run)
