-- Everything that went wrong: steps that failed, sources not used, tests that did not pass and so on.
--
--   run_id    the run
--   position  the event's number in the run
--   time      when it was recorded, UTC
--   what      step, source, reference, dependencies, verification, run or review
--   target    what failed: a step's verb and turn, a locator, the verification's number, an id
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
SELECT run_id, position, time, 'reference', facts.locator, 'REFERENCE_FAILED', facts.reason
FROM events
WHERE type = 'code_reference_recorded' AND facts.outcome = 'failed'
UNION ALL
SELECT run_id, position, time, 'dependencies', run_id, 'DEPENDENCIES_FAILED', facts.reason
FROM events
WHERE type = 'code_dependencies_installed' AND facts.outcome = 'failed'
UNION ALL
SELECT
    run_id, position, time, 'verification', CAST(facts.attempt AS VARCHAR), facts.verdict,
    facts.reason
FROM events
WHERE type = 'code_verified' AND facts.verdict <> 'passed'
UNION ALL
SELECT
    run_id, position, time, 'run', run_id, facts.code, coalesce(facts.message, facts.reason)
FROM events
WHERE type IN ('run_failed', 'run_interrupted')
UNION ALL
SELECT run_id, position, time, 'review', facts.interaction_id, facts.reason, facts.action
FROM events
WHERE type = 'review_refused'
