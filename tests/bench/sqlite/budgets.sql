WITH begun AS MATERIALIZED (
    SELECT run_id, call_id, max(position),
        sum(body ->> '$.reserve.searches') AS searches,
        sum(body ->> '$.reserve.pages') AS pages,
        sum(body ->> '$.reserve.model_calls') AS model_calls,
        sum(
            (body ->> '$.reserve.input_tokens') + (body ->> '$.reserve.cached_tokens')
            + (body ->> '$.reserve.output_tokens')
        ) AS tokens,
        sum(body ->> '$.reserve.cost_micro_usd') AS cost,
        body AS last  -- of the row with the maximum
    FROM events
    WHERE type = 'effect_reserved'
    GROUP BY run_id, call_id
), spent AS (
    SELECT b.run_id,
        sum(searches + max(coalesce(
            (e.body ->> '$.usage.searches') - (last ->> '$.reserve.searches'), 0), 0)) AS searches,
        sum(pages + max(coalesce(
            (e.body ->> '$.usage.pages') - (last ->> '$.reserve.pages'), 0), 0)) AS pages,
        sum(model_calls + max(coalesce(
            (e.body ->> '$.usage.model_calls') - (last ->> '$.reserve.model_calls'), 0), 0))
            AS model_calls,
        sum(tokens + coalesce(
            (e.body ->> '$.usage.input_tokens') + (e.body ->> '$.usage.cached_tokens')
            + (e.body ->> '$.usage.output_tokens') - (last ->> '$.reserve.input_tokens')
            - (last ->> '$.reserve.cached_tokens') - (last ->> '$.reserve.output_tokens'), 0))
            AS tokens,
        sum(cost + coalesce((e.body ->> '$.usage.cost_micro_usd')
            - (last ->> '$.reserve.cost_micro_usd'), 0)) AS cost
    FROM begun AS b
    LEFT JOIN events AS e
        ON e.run_id = b.run_id AND e.call_id = b.call_id
        AND e.type IN ('effect_settled', 'effect_failed')
    GROUP BY b.run_id
), run AS MATERIALIZED (
    SELECT q.body ->> '$.limits' AS limits, s.*
    FROM events AS q
    LEFT JOIN spent AS s ON s.run_id = q.run_id
    WHERE q.type = 'run_queued'
), each AS (
    SELECT 1 AS nth, 'searches' AS budget, searches AS spent,
        limits ->> '$.searches' AS allowed FROM run
    UNION ALL SELECT 2, 'pages', pages, limits ->> '$.pages' FROM run
    UNION ALL SELECT 3, 'model_calls', model_calls, limits ->> '$.model_calls' FROM run
    UNION ALL SELECT 4, 'tokens', tokens, limits ->> '$.tokens' FROM run
    UNION ALL SELECT 5, 'cost_micro_usd', cost, limits ->> '$.cost_micro_usd' FROM run
)
SELECT budget, sum(coalesce(spent, 0)), count(allowed), sum(allowed),
    1.0 * sum(coalesce(spent, 0)) FILTER (WHERE allowed IS NOT NULL) / sum(allowed),
    max(1.0 * coalesce(spent, 0) / nullif(allowed, 0)),
    count(*) FILTER (WHERE coalesce(spent, 0) >= allowed)
FROM each
GROUP BY nth, budget
ORDER BY nth
