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
--   model           the language model that was asked, null without one
--   prompt          the prompt it was asked with: name, version and hash
SELECT
    run_id,
    call_id,
    any_value(turn_id) AS turn_id,
    any_value(facts.stage) AS stage,
    any_value(facts.round) AS round,
    any_value(facts.verb) AS verb,
    count(*) FILTER (WHERE type = 'effect_reserved') AS attempts,
    CASE
        WHEN bool_or(type = 'effect_settled') THEN 'settled'
        WHEN bool_or(type = 'effect_failed') THEN 'failed'
        ELSE 'reserved'
    END AS state,
    any_value(facts.code) AS code,
    any_value(facts.reused_from) AS reused_from,
    any_value(facts.duration_ms) AS duration_ms,
    coalesce(any_value(facts.usage.input_tokens), 0) AS input_tokens,
    coalesce(any_value(facts.usage.cached_tokens), 0) AS cached_tokens,
    coalesce(any_value(facts.usage.output_tokens), 0) AS output_tokens,
    coalesce(any_value(facts.usage.cost_micro_usd), 0) AS cost_micro_usd,
    coalesce(any_value(facts.usage.model_calls), 0) AS model_calls,
    min(time) AS started_at,
    max(time) FILTER (WHERE type <> 'effect_reserved') AS ended_at,
    coalesce(any_value(facts.usage.searches), 0) AS searches,
    coalesce(any_value(facts.usage.pages), 0) AS pages,
    any_value(facts.input_hash) AS input_hash,
    nullif(any_value(facts.model), '') AS model,
    nullif(any_value(facts.prompt), '') AS prompt
FROM events
WHERE type IN ('effect_reserved', 'effect_settled', 'effect_failed')
GROUP BY run_id, call_id
