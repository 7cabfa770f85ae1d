-- One row a quote that was accepted as evidence, and the range of the source's text it is.
--
--   run_id          the run
--   evidence_id     its id in the run
--   subquestion_id  the subquestion it was accepted for
--   round           the round in which it was first accepted
--   source_id       the source it stands in
--   quote_start     where it begins in the source's archived text, in characters from 0
--   quote_end       where it ends, exclusive
--   page            the page it stands on, from 1; null where there are no pages
--   paragraph       the paragraph it stands in
--   text_hash       the content hash of the archived text
--   quote_hash      the content hash of the quote itself
--   accepted_at     when it was first accepted, UTC
SELECT
    run_id,
    evidence_id,
    (first_body ->> '$.subquestion_id') AS subquestion_id,
    CAST(first_body ->> '$.round' AS INTEGER) AS round,
    (first_body ->> '$.quote.source_id') AS source_id,
    CAST(first_body ->> '$.quote.start' AS BIGINT) AS quote_start,
    CAST(first_body ->> '$.quote.end' AS BIGINT) AS quote_end,
    CAST(first_body ->> '$.quote.page' AS INTEGER) AS page,
    CAST(first_body ->> '$.quote.paragraph' AS INTEGER) AS paragraph,
    (first_body ->> '$.quote.text_hash') AS text_hash,
    (first_body ->> '$.quote_hash') AS quote_hash,
    accepted_at
FROM (
    SELECT
        run_id,
        (body ->> '$.evidence_id') AS evidence_id,
        arg_min(body, position) AS first_body,
        min(time) AS accepted_at
    FROM events
    WHERE type = 'research_evidence_accepted'
    GROUP BY ALL
)
