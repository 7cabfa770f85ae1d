WITH verdict AS MATERIALIZED (
    SELECT run_id, body ->> '$.claim_id' AS claim_id, body ->> '$.verdict' AS verdict,
        body ->> '$.claim_status' AS status
    FROM events
    WHERE type = 'research_verdict_recorded'
)
SELECT coalesce(verdict, 'not checked'), count(*) AS claims,
    1.0 * count(*) / sum(count(*)) OVER (), count(DISTINCT c.run_id),
    sum(status = 'corroborated'), sum(status = 'single-source'), sum(status = 'disputed'),
    avg(json_array_length(c.body, '$.evidence_ids'))
FROM events AS c
LEFT JOIN verdict AS v ON v.run_id = c.run_id AND v.claim_id = c.body ->> '$.claim_id'
WHERE c.type = 'research_claim_recorded'
GROUP BY verdict
ORDER BY claims DESC, verdict
