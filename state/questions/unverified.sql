-- Which claims checking did not find supported, the newest first.
-- At most fifty. Their words are in the run's report.json; `assay show RUN` lists them.
-- None: every claim was found to be supported.
--
--   run_id    [id]  the run
--   claim_id  [id]  the claim
--   verdict         partial, contradicted, unverified or no-text
--   method          how it was checked
--   reason          why, in words
SELECT
    run_id,
    claim_id,
    coalesce(verdict, 'not checked') AS verdict,
    coalesce(method, '') AS method,
    coalesce(reason, '') AS reason
FROM claims
JOIN chosen USING (run_id)
WHERE verdict IS DISTINCT FROM 'supported'
ORDER BY recorded_at DESC, run_id, claim_id
LIMIT 50
