-- One row a claim: its section, on how many quotes it rests, and how checking it ended.
-- A claim's words are in its section of the report, found by their hash.
--
--   run_id        the run
--   claim_id      its id in the run
--   section       the section of the report it stands in
--   quotes        on how many quotes it rests
--   verdict       supported, partial, contradicted, unverified or no-text; null when not checked
--   claim_status  corroborated, single-source or disputed
--   method        how it was checked: exact-quote, model:<name>, engine and so on
--   text_hash     the content hash of its words
--   recorded_at   when it was recorded, UTC
--   reason        why the check ended so, in words
SELECT
    c.run_id,
    c.facts.claim_id AS claim_id,
    c.facts.section AS section,
    len(c.facts.evidence_ids) AS quotes,
    v.verdict,
    v.claim_status,
    v.method,
    c.facts.text_hash AS text_hash,
    c.time AS recorded_at,
    v.reason
FROM events AS c
LEFT JOIN (
    SELECT
        run_id,
        facts.claim_id AS claim_id,
        arg_max(facts.verdict, position) AS verdict,
        arg_max(facts.claim_status, position) AS claim_status,
        arg_max(facts.method, position) AS method,
        arg_max(facts.reason, position) AS reason
    FROM events
    WHERE type = 'research_verdict_recorded'
    GROUP BY run_id, facts.claim_id
) AS v ON v.run_id = c.run_id AND v.claim_id = c.facts.claim_id
WHERE c.type = 'research_claim_recorded'
