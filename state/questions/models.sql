-- How often models are called, for what, and at what cost.
-- A step that failed counts with what was reserved for it.
-- None: no step called a model.
--
--   operation             what a step did: plan, assess, write and so on
--   calls          [n]    calls
--   input_tokens   [n]    tokens sent
--   cached_tokens  [n]    tokens the model had cached
--   output_tokens  [n]    tokens answered
--   cost_usd       [usd]  what they cost
--   cost_each_usd  [usd]  cost of each call
--   p50_s          [s]    half of the steps took no longer
--   p95_s          [s]    95 of 100
SELECT
    verb AS operation,
    CAST(sum(model_calls) AS BIGINT) AS calls,
    CAST(sum(input_tokens) AS BIGINT) AS input_tokens,
    CAST(sum(cached_tokens) AS BIGINT) AS cached_tokens,
    CAST(sum(output_tokens) AS BIGINT) AS output_tokens,
    sum(cost_micro_usd) / 1e6 AS cost_usd,
    sum(cost_micro_usd) / 1e6 / sum(model_calls) AS cost_each_usd,
    quantile_disc(duration_ms, 0.5) / 1e3 AS p50_s,
    quantile_disc(duration_ms, 0.95) / 1e3 AS p95_s
FROM model_calls
JOIN chosen USING (run_id)
GROUP BY verb
ORDER BY cost_usd DESC, calls DESC, operation
