-- How much of what they may spend runs have spent.
-- Steps that a crash cut off count, by what was reserved for them.
-- None: there are no runs.
--
--   budget             searches, pages, model_calls, tokens or cost_micro_usd (0.000001 USD)
--   spent     [n]      what all runs have spent of it
--   limited   [n]      runs with a limit of it
--   allowed   [n]      what those may spend
--   share     [share]  the share they have spent of that
--   most      [share]  the highest share of one of them
--   at_limit  [n]      how many have spent all
SELECT
    budget,
    CAST(sum(spent) AS BIGINT) AS spent,
    count(allowed) AS limited,
    CAST(sum(allowed) AS BIGINT) AS allowed,
    sum(spent) FILTER (WHERE allowed IS NOT NULL) / nullif(sum(allowed), 0) AS share,
    max(spent / nullif(allowed, 0)) AS most,
    count(*) FILTER (WHERE spent >= allowed) AS at_limit
FROM spend
JOIN chosen USING (run_id)
GROUP BY budget
ORDER BY list_position(
    ['searches', 'pages', 'model_calls', 'tokens', 'cost_micro_usd'], budget
)
