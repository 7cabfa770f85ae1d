-- One row a subquestion and round: how far it was answered after that round.
--
--   run_id          the run
--   round           the round, from 1
--   subquestion_id  the subquestion
--   coverage        covered, gap or conflict
--   quotes          on how many quotes that rests
--   gap             what is missing, in words
--   is_last         whether the run made no later round
--   assessed_at     when it was assessed, UTC
SELECT
    run_id,
    round,
    answered.subquestion_id AS subquestion_id,
    answered.coverage AS coverage,
    len(answered.evidence_ids) AS quotes,
    answered.gap AS gap,
    is_last,
    assessed_at
FROM (
    SELECT
        run_id,
        facts.round AS round,
        unnest(facts.rows) AS answered,
        position = max(position) OVER (PARTITION BY run_id) AS is_last,
        time AS assessed_at
    FROM events
    WHERE type = 'research_coverage_assessed'
)
