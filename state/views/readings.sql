-- One row a reading: which source was opened, how it ended, and how long it took.
-- The source is found among those that the round was to read, by the hash of the step's input.
--
--   run_id       the run
--   call_id      its step
--   round        the round, from 1
--   locator      what was opened: a path or a URL; null when unknown
--   place        the host of a URL, the folder of a file
--   state        settled, failed, or reserved when it has not ended
--   code         why it failed, for programs
--   duration_ms  how long it took, in milliseconds; null when it has not ended
--   started_at   when it was first begun, UTC
WITH possible AS (
    SELECT run_id, facts.round AS round, unnest(facts.locators) AS locator
    FROM events
    WHERE type = 'research_reading_frozen'
)
SELECT
    s.run_id,
    s.call_id,
    s.round,
    p.locator,
    CASE
        WHEN contains(p.locator, '://')
        THEN lower(regexp_extract(p.locator, '://(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)', 1))
        ELSE regexp_replace(p.locator, '/[^/]*$', '')
    END AS place,
    s.state,
    s.code,
    s.duration_ms,
    s.started_at
FROM steps AS s
LEFT JOIN possible AS p
    ON p.run_id = s.run_id
    AND p.round = s.round
    AND sha256(concat('{"locator":', to_json(p.locator), '}')) = s.input_hash
WHERE s.verb = 'read' AND s.reused_from IS NULL
