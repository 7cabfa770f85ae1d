-- What a ledger keeps in its schema, version 1. Every statement names the schema by {schema}.

-- One row a run: where it stands. Appending locks this row, so appends to a run come one by one.
CREATE TABLE {schema}.run_heads (
    run BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id TEXT COLLATE "C" NOT NULL UNIQUE,
    position BIGINT NOT NULL,
    hash TEXT COLLATE "C" NOT NULL
) WITH (fillfactor = 70);

-- One row an event. `hash` and `line` are the truth, spelled as in a journal; what follows them is
-- read from `line`, so that it can be queried, and can be made again.
CREATE TABLE {schema}.run_lines (
    run BIGINT NOT NULL REFERENCES {schema}.run_heads,
    position BIGINT NOT NULL CHECK (position > 0),
    hash TEXT COLLATE "C" NOT NULL,
    line TEXT COLLATE "C" NOT NULL,
    event_id TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    schema_version INTEGER NOT NULL,
    time TIMESTAMP(3) NOT NULL,
    turn_id TEXT COLLATE "C",
    call_id TEXT COLLATE "C",
    flow_run_id TEXT COLLATE "C",
    task_run_id TEXT COLLATE "C",
    previous_hash TEXT COLLATE "C" NOT NULL,
    body_size INTEGER NOT NULL,
    body_json JSONB NOT NULL,
    PRIMARY KEY (run, position),
    CONSTRAINT line_has_its_hash
        CHECK (hash = encode(sha256(convert_to(line, 'UTF8')), 'hex'))
);

-- The events of a step share its call id; nothing else may.
CREATE UNIQUE INDEX run_lines_call ON {schema}.run_lines (run, call_id)
    WHERE call_id IS NOT NULL
    AND type NOT IN ('effect_reserved', 'effect_settled', 'effect_failed');
CREATE INDEX run_lines_type ON {schema}.run_lines (type, run, position);

CREATE FUNCTION {schema}.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF (OLD.run, OLD.position, OLD.hash, OLD.line) = (NEW.run, NEW.position, NEW.hash, NEW.line)
        THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'what was recorded is never changed or deleted'
        USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON {schema}.run_lines
    FOR EACH ROW EXECUTE FUNCTION {schema}.refuse_change();
CREATE TRIGGER append_only_whole BEFORE TRUNCATE ON {schema}.run_lines
    FOR EACH STATEMENT EXECUTE FUNCTION {schema}.refuse_change();

-- One row a run that was checked: up to where its chain holds, and what is wrong after that.
CREATE TABLE {schema}.run_checks (
    run BIGINT PRIMARY KEY REFERENCES {schema}.run_heads,
    position BIGINT NOT NULL,
    hash TEXT COLLATE "C" NOT NULL,
    quarantined TEXT
);

-- One row a run that was ever executed. `epoch` counts the grants; without `token` it is free.
CREATE TABLE {schema}.run_leases (
    run BIGINT PRIMARY KEY REFERENCES {schema}.run_heads,
    epoch BIGINT NOT NULL,
    token TEXT,
    pid INTEGER NOT NULL,
    host TEXT NOT NULL,
    process TEXT NOT NULL,
    command TEXT NOT NULL,
    since TEXT NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE {schema}.meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO {schema}.meta VALUES ('version', '1');
