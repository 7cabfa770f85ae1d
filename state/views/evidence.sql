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
    facts.evidence_id AS evidence_id,
    arg_min(facts.subquestion_id, position) AS subquestion_id,
    arg_min(facts.round, position) AS round,
    arg_min(facts.quote.source_id, position) AS source_id,
    arg_min(facts.quote.start, position) AS quote_start,
    arg_min(facts.quote."end", position) AS quote_end,
    arg_min(facts.quote.page, position) AS page,
    arg_min(facts.quote.paragraph, position) AS paragraph,
    arg_min(facts.quote.text_hash, position) AS text_hash,
    arg_min(facts.quote_hash, position) AS quote_hash,
    min(time) AS accepted_at
FROM events
WHERE type = 'research_evidence_accepted'
GROUP BY run_id, facts.evidence_id
