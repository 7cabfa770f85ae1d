WITH claim AS MATERIALIZED (
    SELECT e.run_id, each.value AS evidence_id
    FROM events AS e, json_each(e.body, '$.evidence_ids') AS each
    WHERE e.type = 'research_claim_recorded'
), quote AS MATERIALIZED (
    SELECT DISTINCT run_id, body ->> '$.evidence_id' AS evidence_id,
        body ->> '$.quote.source_id' AS source_id,
        (body ->> '$.quote.text_hash') || (body ->> '$.quote.start') || '-'
            || (body ->> '$.quote.end') AS spot
    FROM events
    WHERE type = 'research_evidence_accepted'
), source AS MATERIALIZED (
    SELECT run_id, time, body ->> '$.artifact_id' AS source_id,
        body ->> '$.content_hash' AS content_hash, body ->> '$.name' AS name
    FROM events
    WHERE type = 'research_artifact_recorded' AND body ->> '$.role' = 'source'
)
SELECT min(name), count(DISTINCT run_id) AS runs, count(*) AS citations, count(DISTINCT spot),
    date(min(time)), date(max(time))
FROM claim
JOIN quote USING (run_id, evidence_id)
JOIN source USING (run_id, source_id)
GROUP BY content_hash
HAVING runs > 1
ORDER BY runs DESC, citations DESC, content_hash
LIMIT 20
