-- One row an event: the append-only facts that everything else is computed from.
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
--   body            what it says, as the JSON text that was hashed
--   facts           what of the body is asked about most, as typed fields: facts.verb and so on
CREATE TABLE events (
    run_id VARCHAR NOT NULL,
    position BIGINT NOT NULL,
    event_id VARCHAR NOT NULL,
    type VARCHAR NOT NULL,
    schema_version INTEGER NOT NULL,
    time TIMESTAMP NOT NULL,
    turn_id VARCHAR,
    call_id VARCHAR,
    flow_run_id VARCHAR,
    task_run_id VARCHAR,
    previous_hash VARCHAR NOT NULL,
    hash VARCHAR NOT NULL,
    -- Text: read through the JSON type it would come back in another spelling, and its hash would
    -- not match.
    body VARCHAR NOT NULL,
    facts {facts},
    -- Inline: DuckDB 1.5 stops enforcing a CREATE UNIQUE INDEX after a crash.
    PRIMARY KEY (run_id, position)
);
