SELECT
    c.run_id,
    c.body_json ->> 'claim_id' AS claim_id,
    c.body_json ->> 'section' AS section,
    CAST(jsonb_array_length(c.body_json -> 'evidence_ids') AS BIGINT) AS quotes,
    v.body_json ->> 'verdict' AS verdict,
    v.body_json ->> 'claim_status' AS claim_status,
    v.body_json ->> 'method' AS method,
    c.body_json ->> 'text_hash' AS text_hash,
    c.time AS recorded_at,
    v.body_json ->> 'reason' AS reason
FROM events AS c
LEFT JOIN (
    SELECT DISTINCT ON (run_id, body_json ->> 'claim_id') run_id, body_json
    FROM events
    WHERE type = 'research_verdict_recorded'
    ORDER BY run_id, body_json ->> 'claim_id', position DESC
) AS v ON v.run_id = c.run_id AND v.body_json ->> 'claim_id' = c.body_json ->> 'claim_id'
WHERE c.type = 'research_claim_recorded'
