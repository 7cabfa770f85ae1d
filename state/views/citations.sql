-- One row a quote that a claim rests on: claim, evidence, and the range of the source's text.
--
--   run_id          the run
--   claim_id        the claim that rests on the quote
--   evidence_id     the quote
--   subquestion_id  the subquestion the quote was accepted for
--   source_id       the source it stands in
--   quote_start     where it begins in the source's archived text, in characters from 0
--   quote_end       where it ends, exclusive
--   page            the page it stands on, from 1; null where there are no pages
--   paragraph       the paragraph it stands in
--   text_hash       the content hash of the archived text
--   quote_hash      the content hash of the quote itself
SELECT
    run_id,
    claim_id,
    evidence_id,
    subquestion_id,
    source_id,
    quote_start,
    quote_end,
    page,
    paragraph,
    text_hash,
    quote_hash
FROM (
    SELECT run_id, facts.claim_id AS claim_id, unnest(facts.evidence_ids) AS evidence_id
    FROM events
    WHERE type = 'research_claim_recorded'
)
JOIN evidence USING (run_id, evidence_id)
