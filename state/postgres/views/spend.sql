WITH each_budget AS (
    SELECT
        e.run_id,
        e.call_id,
        e.position,
        b.budget,
        b.reserved,
        b.used
    FROM events AS e
    CROSS JOIN LATERAL (
        SELECT
            name AS budget,
            CASE name
                WHEN 'tokens' THEN
                    CAST(e.body_json #>> '{reserve,input_tokens}' AS BIGINT)
                    + CAST(e.body_json #>> '{reserve,cached_tokens}' AS BIGINT)
                    + CAST(e.body_json #>> '{reserve,output_tokens}' AS BIGINT)
                ELSE CAST(e.body_json #>> ARRAY['reserve', name] AS BIGINT)
            END AS reserved,
            CASE name
                WHEN 'tokens' THEN
                    CAST(e.body_json #>> '{usage,input_tokens}' AS BIGINT)
                    + CAST(e.body_json #>> '{usage,cached_tokens}' AS BIGINT)
                    + CAST(e.body_json #>> '{usage,output_tokens}' AS BIGINT)
                ELSE CAST(e.body_json #>> ARRAY['usage', name] AS BIGINT)
            END AS used
        FROM unnest(
            ARRAY['searches', 'pages', 'model_calls', 'tokens', 'cost_micro_usd']
        ) AS name
    ) AS b
    WHERE e.type IN ('effect_reserved', 'effect_settled', 'effect_failed')
), step AS (
    SELECT
        run_id,
        budget,
        coalesce(sum(reserved), 0) AS reserved,
        max(used) AS used,
        coalesce(
            (array_agg(reserved ORDER BY position DESC) FILTER (WHERE reserved IS NOT NULL))[1], 0
        ) AS last_reserved
    FROM each_budget
    GROUP BY run_id, call_id, budget
), total AS (
    -- Counts never fall below what was reserved: a dispatch that was made is a dispatch.
    SELECT
        run_id,
        budget,
        sum(reserved + CASE
            WHEN used IS NULL THEN 0
            WHEN budget IN ('tokens', 'cost_micro_usd') THEN used - last_reserved
            ELSE greatest(used - last_reserved, 0)
        END) AS total
    FROM step
    GROUP BY run_id, budget
)
SELECT
    q.run_id,
    q.budget,
    CAST(coalesce(max(t.total), 0) AS BIGINT) AS spent,
    max(CAST(q.limits ->> q.budget AS BIGINT)) AS allowed
FROM (
    SELECT
        run_id,
        body_json -> 'limits' AS limits,
        unnest(ARRAY['searches', 'pages', 'model_calls', 'tokens', 'cost_micro_usd']) AS budget
    FROM events
    WHERE type = 'run_queued'
) AS q
LEFT JOIN total AS t USING (run_id, budget)
GROUP BY q.run_id, q.budget
