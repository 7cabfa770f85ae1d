WITH begun AS MATERIALIZED (
    SELECT run_id, call_id, min(body ->> '$.verb') AS verb, count(*) AS attempts
    FROM events
    WHERE type = 'effect_reserved'
    GROUP BY run_id, call_id
)
SELECT
    (e.body ->> '$.duration_ms') / 1e3, coalesce(b.verb, e.body ->> '$.verb'), e.turn_id,
    substr(e.type, 8),
    (e.body ->> '$.usage.input_tokens') + (e.body ->> '$.usage.cached_tokens')
        + (e.body ->> '$.usage.output_tokens'),
    b.attempts, e.run_id
FROM events AS e
LEFT JOIN begun AS b ON b.run_id = e.run_id AND b.call_id = e.call_id
WHERE e.type IN ('effect_settled', 'effect_failed') AND e.body ->> '$.reused_from' IS NULL
ORDER BY e.body ->> '$.duration_ms' DESC, e.run_id, e.call_id
LIMIT 20
