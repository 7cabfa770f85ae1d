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
SELECT
    a.run_id,
    a.round,
    any_value(json_array_length(f.body, '$.queries'))
        FILTER (WHERE f.type = 'research_schedule_frozen') AS searches,
    any_value(json_array_length(f.body, '$.locators'))
        FILTER (WHERE f.type = 'research_reading_frozen') AS sources,
    any_value(json_array_length(f.body, '$.omitted'))
        FILTER (WHERE f.type = 'research_reading_frozen') AS omitted,
    a.new_quotes,
    len(a.found) AS subquestions,
    len(list_filter(a.found, lambda c: c = 'covered')) AS covered,
    len(list_filter(a.found, lambda c: c = 'gap')) AS gaps,
    len(list_filter(a.found, lambda c: c = 'conflict')) AS conflicts,
    min(f.time) AS started_at,
    a.assessed_at
FROM (
    SELECT
        run_id,
        CAST(body ->> '$.round' AS INTEGER) AS round,
        CAST(body ->> '$.new_evidence' AS INTEGER) AS new_quotes,
        json_extract_string(body, '$.rows[*].coverage') AS found,
        time AS assessed_at
    FROM events
    WHERE type = 'research_coverage_assessed'
) AS a
LEFT JOIN events AS f
    ON f.run_id = a.run_id
    AND f.type IN ('research_schedule_frozen', 'research_reading_frozen')
    AND CAST(f.body ->> '$.round' AS INTEGER) = a.round
GROUP BY a.run_id, a.round, a.new_quotes, a.found, a.assessed_at
