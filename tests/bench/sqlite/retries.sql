WITH begun AS MATERIALIZED (
    SELECT run_id, call_id, min(body ->> '$.verb') AS verb, count(*) AS attempts
    FROM events
    WHERE type = 'effect_reserved'
    GROUP BY run_id, call_id
), ended AS MATERIALIZED (
    SELECT run_id, call_id, type, body ->> '$.verb' AS verb, body ->> '$.reused_from' AS reused_from
    FROM events
    WHERE type IN ('effect_settled', 'effect_failed')
), step AS (
    SELECT b.verb, attempts, e.type, e.reused_from
    FROM begun AS b
    LEFT JOIN ended AS e USING (run_id, call_id)
    UNION ALL
    SELECT e.verb, 0, e.type, e.reused_from
    FROM ended AS e
    LEFT JOIN begun AS b USING (run_id, call_id)
    WHERE b.attempts IS NULL
)
SELECT verb, count(*) AS steps, sum(attempts), sum(attempts > 1), max(attempts),
    count(*) FILTER (WHERE type = 'effect_failed'),
    1.0 * count(*) FILTER (WHERE type = 'effect_failed') / count(type),
    count(*) - count(type), count(reused_from)
FROM step
GROUP BY verb
ORDER BY steps DESC, verb
