-- One row for each quote that a claim rests on: claim, evidence, and the range of the source's text.
SELECT
    c.run_id,
    c.claim_id,
    c.evidence_id,
    (e.body ->> '$.subquestion_id') AS subquestion_id,
    (e.body ->> '$.quote.source_id') AS source_id,
    CAST((e.body ->> '$.quote.start') AS BIGINT) AS quote_start,
    CAST((e.body ->> '$.quote.end') AS BIGINT) AS quote_end,
    CAST((e.body ->> '$.quote.page') AS INTEGER) AS page,
    CAST((e.body ->> '$.quote.paragraph') AS INTEGER) AS paragraph,
    (e.body ->> '$.quote.text_hash') AS text_hash,
    (e.body ->> '$.quote_hash') AS quote_hash
FROM (
    SELECT
        run_id,
        (body ->> '$.claim_id') AS claim_id,
        unnest(json_extract_string(body, '$.evidence_ids[*]')) AS evidence_id
    FROM events
    WHERE type = 'research_claim_recorded'
) AS c
JOIN events AS e
    ON e.run_id = c.run_id
    AND e.type = 'research_evidence_accepted'
    AND (e.body ->> '$.evidence_id') = c.evidence_id
