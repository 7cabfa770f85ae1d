WITH step AS (
    SELECT run_id,
        sum(body ->> '$.usage.cost_micro_usd') AS cost,
        sum(
            (body ->> '$.usage.input_tokens') + (body ->> '$.usage.cached_tokens')
            + (body ->> '$.usage.output_tokens')
        ) AS tokens,
        sum(body ->> '$.duration_ms') AS work
    FROM events
    WHERE type IN ('effect_settled', 'effect_failed')
    GROUP BY run_id
), supported AS (
    SELECT run_id, count(*) AS supported
    FROM events
    WHERE type = 'research_verdict_recorded' AND body ->> '$.verdict' = 'supported'
    GROUP BY run_id
)
SELECT
    s.body ->> '$.profile', s.body ->> '$.scope', count(*), sum(coalesce(supported, 0)),
    sum(cost) / 1e6, sum(cost) / 1e6 / sum(supported),
    CAST(round(1.0 * sum(tokens) / sum(supported)) AS INTEGER), sum(work) / 1e3 / sum(supported)
FROM step
JOIN events AS s ON s.run_id = step.run_id AND s.type = 'research_started'
LEFT JOIN supported ON supported.run_id = step.run_id
GROUP BY 1, 2
ORDER BY 1, 2
