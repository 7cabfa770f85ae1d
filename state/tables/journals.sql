-- One row a journal: how far its events were taken in, and why not further.
--
--   folder          the name of its folder under `runs`
--   run_id          the run it is of
--   ingested_bytes  how many of its bytes were taken in
--   last_position   the position of the last event taken in
--   last_hash       the hash of that event
--   seen_bytes      its size when it was last looked at; -1 when it has to be looked at again
--   seen_mtime_ns   when it had been written to then, in nanoseconds since 1970
--   quarantined     why no more is taken in: what is damaged; null when it is sound
CREATE TABLE journals (
    folder VARCHAR NOT NULL PRIMARY KEY,
    run_id VARCHAR NOT NULL,
    ingested_bytes BIGINT NOT NULL,
    last_position BIGINT NOT NULL,
    last_hash VARCHAR NOT NULL,
    seen_bytes BIGINT NOT NULL,
    seen_mtime_ns BIGINT NOT NULL,
    quarantined VARCHAR
);
