WITH reserved AS MATERIALIZED (
    SELECT run_id, call_id, body ->> '$.verb' AS verb
    FROM events
    WHERE type = 'effect_reserved' AND body ->> '$.attempt' = 1
), step AS MATERIALIZED (
    SELECT e.run_id, coalesce(e.body ->> '$.verb', r.verb) AS verb,
        e.body ->> '$.usage.model_calls' AS calls,
        e.body ->> '$.usage.input_tokens' AS input,
        e.body ->> '$.usage.cached_tokens' AS cached,
        e.body ->> '$.usage.output_tokens' AS output,
        e.body ->> '$.usage.cost_micro_usd' AS cost,
        e.body ->> '$.duration_ms' AS duration_ms
    FROM events AS e
    LEFT JOIN reserved AS r ON r.run_id = e.run_id AND r.call_id = e.call_id
    WHERE e.type IN ('effect_settled', 'effect_failed')
        AND e.body ->> '$.usage.model_calls' > 0
), ranked AS (
    SELECT *,
        cume_dist() OVER (PARTITION BY verb ORDER BY duration_ms) AS share
    FROM step
)
SELECT verb, sum(calls) AS calls, sum(input), sum(cached), sum(output), sum(cost) / 1e6 AS usd,
    sum(cost) / 1e6 / sum(calls),
    min(CASE WHEN share >= 0.5 THEN duration_ms END) / 1e3,
    min(CASE WHEN share >= 0.95 THEN duration_ms END) / 1e3
FROM ranked
GROUP BY verb
ORDER BY usd DESC, calls DESC, verb
