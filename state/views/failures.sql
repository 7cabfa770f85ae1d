-- Everything that went wrong: steps that failed, sources that could not be used, runs that stopped.
SELECT run_id, position, time, 'step' AS what, turn_id AS target,
    (body ->> '$.code') AS code, (body ->> '$.message') AS reason
FROM events WHERE type = 'effect_failed'
UNION ALL
SELECT run_id, position, time, 'source', (body ->> '$.locator'), (body ->> '$.code'), (body ->> '$.reason')
FROM events WHERE type = 'research_source_skipped'
UNION ALL
SELECT run_id, position, time, 'run', run_id, (body ->> '$.code'),
    coalesce(body ->> '$.message', (body ->> '$.reason'))
FROM events WHERE type IN ('run_failed', 'run_interrupted')
UNION ALL
SELECT run_id, position, time, 'review', (body ->> '$.interaction_id'), (body ->> '$.reason'), (body ->> '$.action')
FROM events WHERE type = 'review_refused'
