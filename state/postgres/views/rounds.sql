SELECT
    a.run_id,
    a.round,
    max(jsonb_array_length(f.body_json -> 'queries'))
        FILTER (WHERE f.type = 'research_schedule_frozen')::BIGINT AS searches,
    max(jsonb_array_length(f.body_json -> 'locators'))
        FILTER (WHERE f.type = 'research_reading_frozen')::BIGINT AS sources,
    max(jsonb_array_length(f.body_json -> 'omitted'))
        FILTER (WHERE f.type = 'research_reading_frozen')::BIGINT AS omitted,
    a.new_quotes,
    cardinality(a.found)::BIGINT AS subquestions,
    cardinality(array_positions(a.found, 'covered'))::BIGINT AS covered,
    cardinality(array_positions(a.found, 'gap'))::BIGINT AS gaps,
    cardinality(array_positions(a.found, 'conflict'))::BIGINT AS conflicts,
    min(f.time) AS started_at,
    a.assessed_at
FROM (
    SELECT
        run_id,
        CAST(body_json ->> 'round' AS INTEGER) AS round,
        CAST(body_json ->> 'new_evidence' AS INTEGER) AS new_quotes,
        ARRAY(
            SELECT answered ->> 'coverage' FROM jsonb_array_elements(body_json -> 'rows') AS answered
        ) AS found,
        time AS assessed_at
    FROM events
    WHERE type = 'research_coverage_assessed'
) AS a
LEFT JOIN events AS f
    ON f.run_id = a.run_id
    AND f.type IN ('research_schedule_frozen', 'research_reading_frozen')
    AND CAST(f.body_json ->> 'round' AS INTEGER) = a.round
GROUP BY a.run_id, a.round, a.new_quotes, a.found, a.assessed_at
