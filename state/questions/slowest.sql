-- Which steps took longest.
-- The first twenty.
-- None: no step has ended.
--
--   duration_s  [s]   how long its last attempt took
--   operation         what it did
--   turn_id           its stage and round
--   state             settled or failed
--   tokens      [n]   tokens it used
--   begun       [n]   how often it was begun
--   run_id      [id]  its run
SELECT
    duration_ms / 1e3 AS duration_s,
    verb AS operation,
    turn_id,
    state,
    input_tokens + cached_tokens + output_tokens AS tokens,
    attempts AS begun,
    run_id
FROM steps
JOIN chosen USING (run_id)
WHERE state <> 'reserved' AND reused_from IS NULL
ORDER BY duration_ms DESC, run_id, call_id
LIMIT 20
