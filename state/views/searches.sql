-- One row a search: who was asked what, how it ended, and how long it took.
-- The provider is recorded as part of a hash only: the one whose hash it is is found among those
-- that the run could ask.
--
--   run_id          the run
--   call_id         its step
--   round           the round, from 1
--   subquestion_id  the subquestion it was for
--   provider        who was asked: local, or the name of a search provider; null when unknown
--   query           what was asked
--   state           settled, failed, or reserved when it has not ended
--   code            why it failed, for programs
--   duration_ms     how long it took, in milliseconds; null when it has not ended
--   started_at      when it was first begun, UTC
WITH scheduled AS (
    SELECT run_id, facts.round AS round, unnest(facts.queries) AS entry
    FROM events
    WHERE type = 'research_schedule_frozen'
), could_ask AS (
    SELECT
        run_id,
        unnest(list_append(coalesce(facts.request.search_providers, []), 'local')) AS provider
    FROM events
    WHERE type = 'research_started'
), possible AS (
    SELECT
        run_id,
        round,
        provider,
        entry.query AS query,
        entry.subquestion_id AS subquestion_id,
        -- Canonical JSON: keys in order, no spaces.
        sha256(concat(
            '{"provider":', to_json(provider),
            ',"query":', to_json(entry.query),
            ',"subquestion_id":', to_json(entry.subquestion_id), '}'
        )) AS input_hash
    FROM scheduled
    JOIN could_ask USING (run_id)
)
SELECT
    s.run_id,
    s.call_id,
    s.round,
    p.subquestion_id,
    p.provider,
    p.query,
    s.state,
    s.code,
    s.duration_ms,
    s.started_at
FROM steps AS s
LEFT JOIN possible AS p
    ON p.run_id = s.run_id AND p.round = s.round AND p.input_hash = s.input_hash
WHERE s.verb = 'search' AND s.reused_from IS NULL
