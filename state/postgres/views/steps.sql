-- The events of a step agree on what they say, so the smallest is any of them.
SELECT
    run_id,
    call_id,
    min(turn_id) AS turn_id,
    min(body_json ->> 'stage') AS stage,
    min(CAST(body_json ->> 'round' AS INTEGER)) AS round,
    min(body_json ->> 'verb') AS verb,
    count(*) FILTER (WHERE type = 'effect_reserved') AS attempts,
    CASE
        WHEN bool_or(type = 'effect_settled') THEN 'settled'
        WHEN bool_or(type = 'effect_failed') THEN 'failed'
        ELSE 'reserved'
    END AS state,
    min(body_json ->> 'code') AS code,
    min(body_json ->> 'reused_from') AS reused_from,
    min(CAST(body_json ->> 'duration_ms' AS BIGINT)) AS duration_ms,
    coalesce(min(CAST(body_json #>> '{usage,input_tokens}' AS BIGINT)), 0) AS input_tokens,
    coalesce(min(CAST(body_json #>> '{usage,cached_tokens}' AS BIGINT)), 0) AS cached_tokens,
    coalesce(min(CAST(body_json #>> '{usage,output_tokens}' AS BIGINT)), 0) AS output_tokens,
    coalesce(min(CAST(body_json #>> '{usage,cost_micro_usd}' AS BIGINT)), 0) AS cost_micro_usd,
    coalesce(min(CAST(body_json #>> '{usage,model_calls}' AS BIGINT)), 0) AS model_calls,
    min(time) AS started_at,
    max(time) FILTER (WHERE type IN ('effect_settled', 'effect_failed')) AS ended_at,
    coalesce(min(CAST(body_json #>> '{usage,searches}' AS BIGINT)), 0) AS searches,
    coalesce(min(CAST(body_json #>> '{usage,pages}' AS BIGINT)), 0) AS pages,
    min(body_json ->> 'input_hash') AS input_hash,
    nullif(min(body_json ->> 'model'), '') AS model,
    nullif(min(body_json ->> 'prompt'), '') AS prompt
FROM events
WHERE type IN ('effect_reserved', 'effect_settled', 'effect_failed')
GROUP BY run_id, call_id
