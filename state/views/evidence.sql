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
    f.subquestion_id AS subquestion_id,
    f.round AS round,
    f.quote.source_id AS source_id,
    f.quote.start AS quote_start,
    f.quote."end" AS quote_end,
    f.quote.page AS page,
    f.quote.paragraph AS paragraph,
    f.quote.text_hash AS text_hash,
    f.quote_hash AS quote_hash,
    accepted_at
FROM (
    SELECT
        run_id,
        facts.evidence_id AS evidence_id,
        arg_min(
            {
                'subquestion_id': facts.subquestion_id,
                'round': facts.round,
                'quote': facts.quote,
                'quote_hash': facts.quote_hash
            },
            position
        ) AS f,
        min(time) AS accepted_at
    FROM events
    WHERE type = 'research_evidence_accepted'
    GROUP BY run_id, facts.evidence_id
)
