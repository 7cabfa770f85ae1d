-- One row a claim: its section, on how many quotes it rests, and how checking it ended.
SELECT
    c.run_id,
    (c.body ->> '$.claim_id') AS claim_id,
    (c.body ->> '$.section') AS section,
    json_array_length(c.body, '$.evidence_ids') AS quotes,
    (v.body ->> '$.verdict') AS verdict,
    (v.body ->> '$.claim_status') AS claim_status,
    (v.body ->> '$.method') AS method,
    (c.body ->> '$.text_hash') AS text_hash,
    c.time AS recorded_at
FROM events AS c
LEFT JOIN events AS v
    ON v.run_id = c.run_id
    AND v.type = 'research_verdict_recorded'
    AND (v.body ->> '$.claim_id') = (c.body ->> '$.claim_id')
WHERE c.type = 'research_claim_recorded'
