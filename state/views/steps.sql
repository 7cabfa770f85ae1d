-- One row a step: what it was, how often it was tried, how it ended, what it used.
-- What a failed step used is taken to be all that was reserved for it.
--
--   run_id          the run
--   call_id         the step's id: stage, round, verb and a hash of its input
--   turn_id         its stage and round, `stage/round`
--   stage           its stage
--   round           its round, from 1
--   verb            what it did: plan, search, read, assess, write and so on
--   attempts        how often it was begun; more than once when its process died meanwhile
--   state           settled, failed, or reserved when it has not ended
--   code            why it failed, for programs
--   reused_from     the run whose outcome was taken over
--   duration_ms     how long the last attempt took, in milliseconds
--   input_tokens    tokens it sent to a model
--   cached_tokens   tokens the model had cached
--   output_tokens   tokens the model answered
--   cost_micro_usd  what it cost, in millionths of a US dollar
--   model_calls     how many calls of a model it made
--   started_at      when it was first begun, UTC
--   ended_at        when it ended, UTC
--   searches        how many searches it made
--   pages           how many pages it read
--   input_hash      SHA-256 of its input as canonical JSON
SELECT
    run_id,
    call_id,
    any_value(turn_id) AS turn_id,
    any_value(body ->> '$.stage') AS stage,
    any_value(CAST(body ->> '$.round' AS INTEGER)) AS round,
    any_value(body ->> '$.verb') AS verb,
    count(*) FILTER (WHERE type = 'effect_reserved') AS attempts,
    CASE
        WHEN bool_or(type = 'effect_settled') THEN 'settled'
        WHEN bool_or(type = 'effect_failed') THEN 'failed'
        ELSE 'reserved'
    END AS state,
    any_value(body ->> '$.code') AS code,
    any_value(body ->> '$.reused_from') AS reused_from,
    any_value(CAST(body ->> '$.duration_ms' AS BIGINT)) AS duration_ms,
    coalesce(any_value(CAST(body ->> '$.usage.input_tokens' AS BIGINT)), 0) AS input_tokens,
    coalesce(any_value(CAST(body ->> '$.usage.cached_tokens' AS BIGINT)), 0) AS cached_tokens,
    coalesce(any_value(CAST(body ->> '$.usage.output_tokens' AS BIGINT)), 0) AS output_tokens,
    coalesce(any_value(CAST(body ->> '$.usage.cost_micro_usd' AS BIGINT)), 0) AS cost_micro_usd,
    coalesce(any_value(CAST(body ->> '$.usage.model_calls' AS BIGINT)), 0) AS model_calls,
    min(time) AS started_at,
    max(time) FILTER (WHERE type IN ('effect_settled', 'effect_failed')) AS ended_at,
    coalesce(any_value(CAST(body ->> '$.usage.searches' AS BIGINT)), 0) AS searches,
    coalesce(any_value(CAST(body ->> '$.usage.pages' AS BIGINT)), 0) AS pages,
    any_value(body ->> '$.input_hash') AS input_hash
FROM events
WHERE type IN ('effect_reserved', 'effect_settled', 'effect_failed')
GROUP BY run_id, call_id
