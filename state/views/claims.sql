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
    (c.body ->> '$.claim_id') AS claim_id,
    (c.body ->> '$.section') AS section,
    json_array_length(c.body, '$.evidence_ids') AS quotes,
    (v.body ->> '$.verdict') AS verdict,
    (v.body ->> '$.claim_status') AS claim_status,
    (v.body ->> '$.method') AS method,
    (c.body ->> '$.text_hash') AS text_hash,
    c.time AS recorded_at,
    (v.body ->> '$.reason') AS reason
FROM events AS c
LEFT JOIN (
    SELECT run_id, (body ->> '$.claim_id') AS claim_id, arg_max(body, position) AS body
    FROM events
    WHERE type = 'research_verdict_recorded'
    GROUP BY ALL
) AS v ON v.run_id = c.run_id AND v.claim_id = (c.body ->> '$.claim_id')
WHERE c.type = 'research_claim_recorded'
