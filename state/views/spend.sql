-- One row a run and kind of budget: what it has spent of what it may spend.
-- As the driver counts it: an attempt that a crash cut off counts too, by what was reserved for it.
--
--   run_id   the run
--   budget   searches, pages, model_calls, tokens or cost_micro_usd
--   spent    what is spent or reserved of it
--   allowed  the run's limit; null for none
WITH effect AS (
    SELECT
        run_id,
        call_id,
        position,
        json_transform(body, '{
            "reserve": {
                "searches": "BIGINT", "pages": "BIGINT", "model_calls": "BIGINT",
                "input_tokens": "BIGINT", "cached_tokens": "BIGINT", "output_tokens": "BIGINT",
                "cost_micro_usd": "BIGINT"
            },
            "usage": {
                "searches": "BIGINT", "pages": "BIGINT", "model_calls": "BIGINT",
                "input_tokens": "BIGINT", "cached_tokens": "BIGINT", "output_tokens": "BIGINT",
                "cost_micro_usd": "BIGINT"
            }
        }') AS b
    FROM events
    WHERE type IN ('effect_reserved', 'effect_settled', 'effect_failed')
), each_budget AS (
    SELECT
        run_id,
        call_id,
        position,
        unnest([
            {'budget': 'searches', 'reserved': b.reserve.searches, 'used': b.usage.searches},
            {'budget': 'pages', 'reserved': b.reserve.pages, 'used': b.usage.pages},
            {
                'budget': 'model_calls',
                'reserved': b.reserve.model_calls,
                'used': b.usage.model_calls
            },
            {
                'budget': 'tokens',
                'reserved': b.reserve.input_tokens + b.reserve.cached_tokens
                    + b.reserve.output_tokens,
                'used': b.usage.input_tokens + b.usage.cached_tokens + b.usage.output_tokens
            },
            {
                'budget': 'cost_micro_usd',
                'reserved': b.reserve.cost_micro_usd,
                'used': b.usage.cost_micro_usd
            }
        ], recursive := true)
    FROM effect
), step AS (
    -- Counts never fall below what was reserved: a dispatch that was made is a dispatch.
    SELECT
        run_id,
        budget,
        coalesce(sum(reserved), 0) + CASE
            WHEN max(used) IS NULL THEN 0
            WHEN budget IN ('tokens', 'cost_micro_usd')
            THEN max(used) - coalesce(arg_max(reserved, position), 0)
            ELSE greatest(max(used) - coalesce(arg_max(reserved, position), 0), 0)
        END AS spent
    FROM each_budget
    GROUP BY run_id, call_id, budget
)
SELECT
    run_id,
    budget,
    CAST(coalesce(any_value(total), 0) AS BIGINT) AS spent,
    any_value(CAST((body ->> ('$.limits.' || budget)) AS BIGINT)) AS allowed
FROM (
    SELECT
        run_id,
        body,
        unnest(['searches', 'pages', 'model_calls', 'tokens', 'cost_micro_usd']) AS budget
    FROM events
    WHERE type = 'run_queued'
)
LEFT JOIN (SELECT run_id, budget, sum(spent) AS total FROM step GROUP BY run_id, budget)
    USING (run_id, budget)
GROUP BY run_id, budget
