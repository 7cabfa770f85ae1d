-- Everything that went wrong: steps that failed, sources not used, runs that stopped, answers refused.
--
--   run_id    the run
--   position  the event's number in the run
--   time      when it was recorded, UTC
--   what      step, source, run or review
--   target    what failed: the step's verb and turn, the source's locator, the run, the request
--   code      why, for programs
--   reason    why, in words
SELECT
    run_id,
    position,
    time,
    'step' AS what,
    concat_ws(' ', nullif(split_part(call_id, '/', 3), ''), turn_id) AS target,
    facts.code AS code,
    facts.message AS reason
FROM events
WHERE type = 'effect_failed'
UNION ALL
SELECT run_id, position, time, 'source', facts.locator, facts.code, facts.reason
FROM events
WHERE type = 'research_source_skipped'
UNION ALL
SELECT
    run_id, position, time, 'run', run_id, facts.code, coalesce(facts.message, facts.reason)
FROM events
WHERE type IN ('run_failed', 'run_interrupted')
UNION ALL
SELECT run_id, position, time, 'review', facts.interaction_id, facts.reason, facts.action
FROM events
WHERE type = 'review_refused'
