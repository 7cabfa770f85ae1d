WITH claim AS MATERIALIZED (
    SELECT e.run_id, e.body ->> '$.claim_id' AS claim_id, each.value AS evidence_id
    FROM events AS e, json_each(e.body, '$.evidence_ids') AS each
    WHERE e.type = 'research_claim_recorded'
), quote AS MATERIALIZED (
    SELECT DISTINCT run_id, body ->> '$.evidence_id' AS evidence_id,
        body ->> '$.quote.source_id' AS source_id
    FROM events
    WHERE type = 'research_evidence_accepted'
), source AS MATERIALIZED (
    SELECT run_id, body ->> '$.artifact_id' AS source_id,
        body ->> '$.content_hash' AS content_hash, body ->> '$.locator' AS locator
    FROM events
    WHERE type = 'research_artifact_recorded' AND body ->> '$.role' = 'source'
), verdict AS MATERIALIZED (
    SELECT run_id, body ->> '$.claim_id' AS claim_id, body ->> '$.verdict' AS verdict
    FROM events
    WHERE type = 'research_verdict_recorded'
)
SELECT
    CASE
        WHEN instr(locator, '://') THEN lower(substr(
            substr(locator, instr(locator, '://') + 3), 1,
            instr(substr(locator, instr(locator, '://') + 3) || '/', '/') - 1
        ))
        ELSE rtrim(rtrim(locator, replace(locator, '/', '')), '/')
    END AS place,
    count(*) AS citations, count(DISTINCT run_id || ' ' || claim_id),
    1.0 * count(DISTINCT CASE WHEN verdict = 'supported' THEN run_id || ' ' || claim_id END)
        / count(DISTINCT run_id || ' ' || claim_id),
    count(DISTINCT content_hash), count(DISTINCT run_id)
FROM claim
JOIN quote USING (run_id, evidence_id)
JOIN source USING (run_id, source_id)
JOIN verdict USING (run_id, claim_id)
GROUP BY place
ORDER BY citations DESC, place
LIMIT 20
