SELECT
    run_id,
    evidence_id,
    first_body ->> 'subquestion_id' AS subquestion_id,
    CAST(first_body ->> 'round' AS INTEGER) AS round,
    first_body #>> '{quote,source_id}' AS source_id,
    CAST(first_body #>> '{quote,start}' AS BIGINT) AS quote_start,
    CAST(first_body #>> '{quote,end}' AS BIGINT) AS quote_end,
    CAST(first_body #>> '{quote,page}' AS INTEGER) AS page,
    CAST(first_body #>> '{quote,paragraph}' AS INTEGER) AS paragraph,
    first_body #>> '{quote,text_hash}' AS text_hash,
    first_body ->> 'quote_hash' AS quote_hash,
    accepted_at
FROM (
    SELECT
        run_id,
        body_json ->> 'evidence_id' AS evidence_id,
        (array_agg(body_json ORDER BY position))[1] AS first_body,
        min(time) AS accepted_at
    FROM events
    WHERE type = 'research_evidence_accepted'
    GROUP BY run_id, body_json ->> 'evidence_id'
) AS accepted
