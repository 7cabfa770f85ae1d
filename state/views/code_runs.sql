-- One row a Paper2Code run: what is made of what, and how far its tests show that it works.
--
--   run_id         the run
--   source_type    local, url, repository or requirement
--   source         the path or URL it is made from, or the requirement itself
--   workspace      the folder that the code is written into
--   model          the language model that was asked for
--   title          what is built
--   plan_versions  how many versions of the plan there are
--   planned        how many files the present one has
--   written        how many of them were written
--   citations      how many quotes of the source the plan rests on
--   located        how many of them were found in its text
--   ambiguities    how many questions the source leaves open
--   dependencies   installed, nothing or failed; null before
--   verifications  how often its tests were run
--   repairs        how many repairs were made
--   verdict        what the last verification says
--   executed       how many tests it ran
--   passed         how many of them passed
--   failed         how many of them failed
--   outcome        complete or incomplete; null until it is sealed
WITH plan AS (
    SELECT
        run_id,
        max(version) AS plan_versions,
        arg_max(title, version) AS title,
        arg_max(files, version) AS planned,
        arg_max(citations, version) AS citations,
        arg_max(located, version) AS located,
        arg_max(ambiguities, version) AS ambiguities
    FROM code_plans
    GROUP BY run_id
), file AS (
    SELECT run_id, count(*) FILTER (WHERE is_planned) AS written, max(repair) AS repairs
    FROM code_files
    GROUP BY run_id
), verification AS (
    SELECT
        run_id,
        count(*) AS verifications,
        max(attempt) AS repairs,
        arg_max(verdict, attempt) AS verdict,
        arg_max(executed, attempt) AS executed,
        arg_max(passed, attempt) AS passed,
        arg_max(failed, attempt) AS failed
    FROM verifications
    GROUP BY run_id
), other AS (
    SELECT
        run_id,
        arg_max(facts.outcome, position) FILTER (WHERE type = 'code_dependencies_installed')
            AS dependencies,
        any_value(facts.outcome) FILTER (WHERE type = 'code_sealed') AS outcome
    FROM events
    WHERE type IN ('code_dependencies_installed', 'code_sealed')
    GROUP BY run_id
)
SELECT
    e.run_id,
    e.facts.request.source_type AS source_type,
    e.facts.request.source AS source,
    e.facts.request.workspace AS workspace,
    e.facts.request.model AS model,
    plan.title,
    coalesce(plan.plan_versions, 0) AS plan_versions,
    plan.planned,
    coalesce(file.written, 0) AS written,
    plan.citations,
    plan.located,
    plan.ambiguities,
    other.dependencies,
    coalesce(verification.verifications, 0) AS verifications,
    greatest(coalesce(file.repairs, 0), coalesce(verification.repairs, 0)) AS repairs,
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
