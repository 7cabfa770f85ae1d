-- One row a round that was assessed: what it read, and how far the question was answered after it.
--
--   run_id        the run
--   round         the round, from 1
--   searches      how many searches it scheduled
--   sources       how many sources it was to read
--   omitted       how many were found and left out
--   new_quotes    how many quotes it added
--   subquestions  how many subquestions there are
--   covered       how many of them were covered after the round
--   gaps          how many were gaps
--   conflicts     how many were in conflict
--   started_at    when its searches were decided, UTC
--   assessed_at   when it was assessed, UTC
WITH frozen AS (
    SELECT
        run_id,
        facts.round AS round,
        max(len(facts.queries)) AS searches,
        max(len(facts.locators)) AS sources,
        max(len(facts.omitted)) AS omitted,
        min(time) AS started_at
    FROM events
    WHERE type IN ('research_schedule_frozen', 'research_reading_frozen')
    GROUP BY run_id, facts.round
), assessed AS (
    SELECT
        run_id,
        facts.round AS round,
        facts.new_evidence AS new_quotes,
        [answered.coverage FOR answered IN facts.rows] AS found,
        time AS assessed_at
    FROM events
    WHERE type = 'research_coverage_assessed'
)
SELECT
    a.run_id,
    a.round,
    f.searches,
    f.sources,
    f.omitted,
    a.new_quotes,
    len(a.found) AS subquestions,
    len(list_filter(a.found, lambda c: c = 'covered')) AS covered,
    len(list_filter(a.found, lambda c: c = 'gap')) AS gaps,
    len(list_filter(a.found, lambda c: c = 'conflict')) AS conflicts,
    f.started_at,
    a.assessed_at
FROM assessed AS a
LEFT JOIN frozen AS f ON f.run_id = a.run_id AND f.round = a.round
