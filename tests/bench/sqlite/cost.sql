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
), run AS (
    SELECT
        coalesce(s.body ->> '$.profile', q.body ->> '$.kind') AS profile,
        coalesce(s.body ->> '$.scope', '') AS scope,
        coalesce(supported, 0) AS supported, cost, tokens, work
    FROM step
    JOIN events AS q ON q.run_id = step.run_id AND q.type = 'run_queued'
    LEFT JOIN events AS s ON s.run_id = step.run_id AND s.type = 'research_started'
    LEFT JOIN supported ON supported.run_id = step.run_id
), summed AS (
    SELECT 0 AS total, profile, scope, count(*) AS runs, sum(supported) AS supported,
        sum(cost) AS cost, sum(tokens) AS tokens, sum(work) AS work
    FROM run
    GROUP BY profile, scope
    UNION ALL
    SELECT 1, 'all', 'all', count(*), sum(supported), sum(cost), sum(tokens), sum(work)
    FROM run
    HAVING count(DISTINCT profile || ' ' || scope) > 1
)
SELECT
    profile, scope, runs, supported, cost / 1e6, cost / 1e6 / nullif(supported, 0),
    CAST(round(1.0 * tokens / nullif(supported, 0)) AS INTEGER), work / 1e3 / nullif(supported, 0)
FROM summed
ORDER BY total, profile, scope
