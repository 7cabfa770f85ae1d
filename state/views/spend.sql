-- One row a run and kind of budget: what it has spent of what it may spend.
-- As the driver counts it: an attempt that a crash cut off counts too, by what was reserved for it.
--
--   run_id   the run
--   budget   searches, pages, model_calls, tokens or cost_micro_usd
--   spent    what is spent or reserved of it
--   allowed  the run's limit; null for none
WITH step AS (
    SELECT
        run_id,
        coalesce(sum(facts.reserve.searches), 0) AS searches,
        coalesce(sum(facts.reserve.pages), 0) AS pages,
        coalesce(sum(facts.reserve.model_calls), 0) AS model_calls,
        coalesce(
            sum(facts.reserve.input_tokens + facts.reserve.cached_tokens + facts.reserve.output_tokens), 0
        ) AS tokens,
        coalesce(sum(facts.reserve.cost_micro_usd), 0) AS cost_micro_usd,
        arg_max(facts.reserve, position) FILTER (WHERE type = 'effect_reserved') AS reserved,
        any_value(facts.usage) FILTER (WHERE type <> 'effect_reserved') AS used
    FROM events
    WHERE type IN ('effect_reserved', 'effect_settled', 'effect_failed')
    GROUP BY run_id, call_id
), run AS (
    -- What was used replaces what was reserved last. Counts never fall below what was reserved: a
    -- dispatch that was made is a dispatch.
    SELECT
        run_id,
        sum(searches + greatest(coalesce(used.searches - coalesce(reserved.searches, 0), 0), 0))
            AS searches,
        sum(pages + greatest(coalesce(used.pages - coalesce(reserved.pages, 0), 0), 0)) AS pages,
        sum(
            model_calls
            + greatest(coalesce(used.model_calls - coalesce(reserved.model_calls, 0), 0), 0)
        ) AS model_calls,
        sum(
            tokens + coalesce(
                used.input_tokens + used.cached_tokens + used.output_tokens - coalesce(
                    reserved.input_tokens + reserved.cached_tokens + reserved.output_tokens, 0
                ), 0
            )
        ) AS tokens,
        sum(
            cost_micro_usd
            + coalesce(used.cost_micro_usd - coalesce(reserved.cost_micro_usd, 0), 0)
        ) AS cost_micro_usd
    FROM step
    GROUP BY run_id
)
SELECT run_id, budget, CAST(coalesce(spent, 0) AS BIGINT) AS spent, allowed
FROM (
    SELECT
        q.run_id,
        unnest([
            {
                'budget': 'searches',
                'spent': run.searches,
                'allowed': q.facts.limits.searches
            },
            {
                'budget': 'pages',
                'spent': run.pages,
                'allowed': q.facts.limits.pages
            },
            {
                'budget': 'model_calls',
                'spent': run.model_calls,
                'allowed': q.facts.limits.model_calls
            },
            {
                'budget': 'tokens',
                'spent': run.tokens,
                'allowed': q.facts.limits.tokens
            },
            {
                'budget': 'cost_micro_usd',
                'spent': run.cost_micro_usd,
                'allowed': q.facts.limits.cost_micro_usd
            }
        ], recursive := true)
    FROM events AS q
    LEFT JOIN run ON run.run_id = q.run_id
    WHERE q.type = 'run_queued'
)
