-- One row a step: what it was, how often it was tried, how it ended, what it used.
SELECT
    run_id,
    call_id,
    any_value(turn_id) AS turn_id,
    any_value(body ->> '$.stage') FILTER (WHERE type = 'effect_reserved') AS stage,
    any_value(CAST(body ->> '$.round' AS INTEGER)) FILTER (WHERE type = 'effect_reserved') AS round,
    coalesce(
        any_value(body ->> '$.verb') FILTER (WHERE type = 'effect_reserved'),
        any_value(body ->> '$.verb') FILTER (WHERE type = 'effect_settled')
    ) AS verb,
    count(*) FILTER (WHERE type = 'effect_reserved') AS attempts,
    CASE
        WHEN bool_or(type = 'effect_settled') THEN 'settled'
        WHEN bool_or(type = 'effect_failed') THEN 'failed'
        ELSE 'reserved'
    END AS state,
    any_value(body ->> '$.code') FILTER (WHERE type = 'effect_failed') AS code,
    any_value(body ->> '$.reused_from') FILTER (WHERE type = 'effect_settled') AS reused_from,
    any_value(CAST(body ->> '$.duration_ms' AS BIGINT)) FILTER (
        WHERE type IN ('effect_settled', 'effect_failed')
    ) AS duration_ms,
    coalesce(any_value(CAST(body ->> '$.usage.input_tokens' AS BIGINT)) FILTER (WHERE type <> 'effect_reserved'), 0) AS input_tokens,
    coalesce(any_value(CAST(body ->> '$.usage.cached_tokens' AS BIGINT)) FILTER (WHERE type <> 'effect_reserved'), 0) AS cached_tokens,
    coalesce(any_value(CAST(body ->> '$.usage.output_tokens' AS BIGINT)) FILTER (WHERE type <> 'effect_reserved'), 0) AS output_tokens,
    coalesce(any_value(CAST(body ->> '$.usage.cost_micro_usd' AS BIGINT)) FILTER (WHERE type <> 'effect_reserved'), 0) AS cost_micro_usd,
    coalesce(any_value(CAST(body ->> '$.usage.model_calls' AS BIGINT)) FILTER (WHERE type <> 'effect_reserved'), 0) AS model_calls,
    min(time) AS started_at,
    max(time) FILTER (WHERE type IN ('effect_settled', 'effect_failed')) AS ended_at
FROM events
WHERE type IN ('effect_reserved', 'effect_settled', 'effect_failed')
GROUP BY run_id, call_id
