SELECT
    c.run_id,
    c.claim_id,
    c.evidence_id,
    e.subquestion_id,
    e.source_id,
    e.quote_start,
    e.quote_end,
    e.page,
    e.paragraph,
    e.text_hash,
    e.quote_hash
FROM (
    SELECT
        run_id,
        body_json ->> 'claim_id' AS claim_id,
        jsonb_array_elements_text(body_json -> 'evidence_ids') AS evidence_id
    FROM events
    WHERE type = 'research_claim_recorded'
) AS c
JOIN evidence AS e USING (run_id, evidence_id)
