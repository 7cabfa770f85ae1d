-- One row a run: what it is, how it stands, what it came to, what it used.
-- A run whose process is gone reads as running until something notices (`assay runs` does).
--
--   run_id         the run
--   kind           research or paper2code
--   status         queued, running, waiting, interrupted, completed, failed or cancelled
--   question       what is to be found out, or made code of
--   profile        which report it makes
--   scope          quick, standard or deep
--   requested_by   who asked
--   task_id        the first run of its family: a retry is a new run of the same task
--   attempt        its number in the family, from 1
--   retry_of       the run it is a retry of
--   answer_status  what the report can say: answered, insufficient-evidence, verified and so on
--   stop_reason    why no further round was begun
--   code           why it was interrupted or failed, for programs
--   coverage       the share of its subquestions that is covered, 0 to 1
--   sources        how many sources it archived
--   quotes         how many quotes it accepted
--   claims         how many claims it made
--   events         how many events it has
--   queued_at      when it was asked for, UTC
--   started_at     when work began, UTC
--   ended_at       when it ended, UTC; null while it can go on
--   updated_at     when its last event was recorded, UTC
--   duration_s     seconds from its start to its end, or to its last event; waiting included
--   rounds         how many rounds were assessed
--   supported      how many of its claims were found to be supported
WITH life AS (
    SELECT run_id,
        min(time) FILTER (WHERE type = 'run_queued') AS queued_at,
        min(time) FILTER (WHERE type = 'run_started') AS started_at,
        max(time) FILTER (WHERE type IN ('run_completed', 'run_failed', 'run_cancelled')) AS ended_at,
        max(time) AS updated_at,
        max(position) AS position,
        arg_max(type, position) FILTER (
            WHERE type IN (
                'run_queued', 'run_started', 'run_waiting', 'run_resumed', 'run_interrupted',
                'run_cancelled', 'run_failed', 'run_completed'
            )
        ) AS last_change,
        any_value(facts.kind) FILTER (WHERE type = 'run_queued') AS kind,
        any_value(facts.requested_by) FILTER (WHERE type = 'run_queued') AS requested_by,
        any_value(facts.task_id) FILTER (WHERE type = 'run_queued') AS task_id,
        any_value(facts.attempt) FILTER (WHERE type = 'run_queued') AS attempt,
        any_value(facts.retry_of.run_id) FILTER (WHERE type = 'run_queued') AS retry_of,
        coalesce(
            any_value(facts.objective) FILTER (WHERE type = 'research_started'),
            left(
                trim(regexp_replace(
                    any_value(facts.request.source) FILTER (WHERE type = 'code_started'),
                    '[ \t\r\n]+', ' ', 'g'
                )),
                120
            )
        ) AS question,
        any_value(facts.profile) FILTER (WHERE type = 'research_started') AS profile,
        any_value(facts.scope) FILTER (WHERE type = 'research_started') AS scope,
        any_value(facts.answer_status) FILTER (WHERE type = 'run_completed') AS answer_status,
        any_value(facts.stop_reason) FILTER (WHERE type = 'run_completed') AS stop_reason,
        arg_max(facts.code, position) FILTER (
            WHERE type IN ('run_interrupted', 'run_failed')
        ) AS code,
        arg_max([answered.coverage FOR answered IN facts.rows], position) FILTER (
            WHERE type = 'research_coverage_assessed'
        ) AS coverage,
        count(*) FILTER (WHERE type = 'research_coverage_assessed') AS rounds,
        count(*) FILTER (WHERE type = 'research_claim_recorded') AS claims,
        count(*) FILTER (
            WHERE type = 'research_verdict_recorded' AND facts.verdict = 'supported'
        ) AS supported,
        count(*) FILTER (WHERE type = 'research_evidence_accepted') AS quotes,
        count(*) FILTER (
            WHERE (type = 'research_artifact_recorded' AND facts.role = 'source')
                OR type = 'code_source_recorded'
        ) AS sources
    FROM events
    GROUP BY run_id
)
SELECT
    run_id,
    kind,
    CASE last_change
        WHEN 'run_queued' THEN 'queued'
        WHEN 'run_started' THEN 'running'
        WHEN 'run_resumed' THEN 'running'
        ELSE substr(last_change, 5)
    END AS status,
    question,
    profile,
    scope,
    requested_by,
    task_id,
    attempt,
    retry_of,
    answer_status,
    stop_reason,
    CASE WHEN last_change IN ('run_interrupted', 'run_failed') THEN code END AS code,
    len(list_filter(coverage, lambda c: c = 'covered')) / nullif(len(coverage), 0) AS coverage,
    sources,
    quotes,
    claims,
    position AS events,
    queued_at,
    started_at,
    ended_at,
    updated_at,
    (epoch_ms(coalesce(ended_at, updated_at)) - epoch_ms(started_at)) / 1000 AS duration_s,
    rounds,
    supported
FROM life
