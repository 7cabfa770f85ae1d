WITH plan AS (
    SELECT DISTINCT ON (run_id) * FROM code_plans ORDER BY run_id, version DESC
), file AS (
    SELECT run_id, count(*) FILTER (WHERE is_planned) AS written, max(repair) AS repairs
    FROM code_files
    GROUP BY run_id
), verification AS (
    SELECT DISTINCT ON (run_id)
        *,
        count(*) OVER (PARTITION BY run_id) AS verifications
    FROM verifications
    ORDER BY run_id, attempt DESC
), other AS (
    SELECT
        run_id,
        (array_agg(body_json ->> 'outcome' ORDER BY position DESC) FILTER (
            WHERE type = 'code_dependencies_installed'
        ))[1] AS dependencies,
        max(body_json ->> 'outcome') FILTER (WHERE type = 'code_sealed') AS outcome
    FROM events
    WHERE type IN ('code_dependencies_installed', 'code_sealed')
    GROUP BY run_id
)
SELECT
    e.run_id,
    e.body_json #>> '{request,source_type}' AS source_type,
    e.body_json #>> '{request,source}' AS source,
    e.body_json #>> '{request,workspace}' AS workspace,
    e.body_json #>> '{request,model}' AS model,
    plan.title,
    coalesce(plan.version, 0) AS plan_versions,
    plan.files AS planned,
    coalesce(file.written, 0) AS written,
    plan.citations,
    plan.located,
    plan.ambiguities,
    other.dependencies,
    coalesce(verification.verifications, 0) AS verifications,
    greatest(coalesce(file.repairs, 0), coalesce(verification.attempt, 0)) AS repairs,
    verification.verdict,
    verification.executed,
    verification.passed,
    verification.failed,
    other.outcome
FROM events AS e
LEFT JOIN plan ON plan.run_id = e.run_id
LEFT JOIN file ON file.run_id = e.run_id
LEFT JOIN verification ON verification.run_id = e.run_id
LEFT JOIN other ON other.run_id = e.run_id
WHERE e.type = 'code_started'
