-- How checking claims against their quotes ends.
-- None: no claim was made.
--
--   verdict                 supported, partial, contradicted, unverified or no-text
--   claims         [n]      how many claims
--   share          [share]  their share
--   runs           [n]      in how many runs
--   corroborated   [n]      of them resting on independent sources
--   single_source  [n]      of them resting on one
--   disputed       [n]      of them contradicted by another source
--   quotes         [ratio]  quotes each rests on, in the mean
SELECT
    coalesce(verdict, 'not checked') AS verdict,
    count(*) AS claims,
    count(*) / sum(count(*)) OVER () AS share,
    count(DISTINCT run_id) AS runs,
    count(*) FILTER (WHERE claim_status = 'corroborated') AS corroborated,
    count(*) FILTER (WHERE claim_status = 'single-source') AS single_source,
    count(*) FILTER (WHERE claim_status = 'disputed') AS disputed,
    avg(quotes) AS quotes
FROM claims
JOIN chosen USING (run_id)
GROUP BY verdict
ORDER BY claims DESC, verdict
