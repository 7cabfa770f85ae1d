-- One row an event: the append-only facts that everything else is computed from.
-- Runs that were found to be damaged are left out.
--
--   run_id          the run the event belongs to
--   position        its number in the run, from 1
--   event_id        a random id of the event
--   type            what happened, in the past tense; ARCHITECTURE.md has the catalogue
--   schema_version  the version of the body's form
--   time            when it was recorded, UTC
--   turn_id         stage and round it belongs to, `stage/round`
--   call_id         the call that recorded it, once however often it is tried
--   flow_run_id     Prefect's id of the flow run that recorded it
--   task_run_id     Prefect's id of the task run whose outcome it records
--   previous_hash   the hash of the event before it
--   hash            SHA-256 of its exact spelling, which holds the hash before it
--   body            its facts, as the JSON text that was hashed
--   body_json       its facts as jsonb, which cannot hold NUL: that is U+FFFD here
SELECT
    h.run_id,
    l.position,
    l.event_id,
    l.type,
    l.schema_version,
    l.time,
    l.turn_id,
    l.call_id,
    l.flow_run_id,
    l.task_run_id,
    l.previous_hash,
    l.hash,
    substr(l.line, 9, l.body_size) AS body,
    l.body_json
FROM run_lines AS l
JOIN run_heads AS h USING (run)
WHERE NOT EXISTS (
    SELECT FROM run_checks AS c WHERE c.run = l.run AND c.quarantined IS NOT NULL
)
