WITH life AS (
    SELECT run_id,
        min(time) FILTER (WHERE type = 'run_queued') AS queued_at,
        min(time) FILTER (WHERE type = 'run_started') AS started_at,
        max(time) FILTER (WHERE type IN ('run_completed', 'run_failed', 'run_cancelled')) AS ended_at,
        max(time) AS updated_at,
        max(position) AS position,
        (array_agg(type ORDER BY position DESC) FILTER (
            WHERE type IN (
                'run_queued', 'run_started', 'run_waiting', 'run_resumed', 'run_interrupted',
                'run_cancelled', 'run_failed', 'run_completed'
            )
        ))[1] AS last_change,
        (array_agg(body_json) FILTER (WHERE type = 'run_queued'))[1] AS queued,
        (array_agg(body_json) FILTER (WHERE type = 'research_started'))[1] AS research,
        (array_agg(body_json) FILTER (WHERE type = 'code_started'))[1] AS code,
        (array_agg(body_json ORDER BY position DESC) FILTER (
            WHERE type IN ('run_interrupted', 'run_cancelled', 'run_failed', 'run_completed')
        ))[1] AS ending,
        (array_agg(body_json ORDER BY position DESC) FILTER (
            WHERE type = 'research_coverage_assessed'
        ))[1] AS coverage,
        count(*) FILTER (WHERE type = 'research_coverage_assessed') AS rounds,
        count(*) FILTER (WHERE type = 'research_claim_recorded') AS claims,
        count(*) FILTER (
            WHERE type = 'research_verdict_recorded' AND body_json ->> 'verdict' = 'supported'
        ) AS supported,
        count(*) FILTER (WHERE type = 'research_evidence_accepted') AS quotes,
        count(*) FILTER (
            WHERE (type = 'research_artifact_recorded' AND body_json ->> 'role' = 'source')
                OR type = 'code_source_recorded'
        ) AS sources
    FROM events
    GROUP BY run_id
)
SELECT
    run_id,
    queued ->> 'kind' AS kind,
    CASE last_change
        WHEN 'run_queued' THEN 'queued'
        WHEN 'run_started' THEN 'running'
        WHEN 'run_resumed' THEN 'running'
        ELSE substr(last_change, 5)
    END AS status,
    coalesce(
        research ->> 'objective',
        left(
            trim(regexp_replace(code #>> '{request,source}', '[ \t\r\n]+', ' ', 'g')), 120
        )
    ) AS question,
    research ->> 'profile' AS profile,
    research ->> 'scope' AS scope,
    queued ->> 'requested_by' AS requested_by,
    queued ->> 'task_id' AS task_id,
    CAST(queued ->> 'attempt' AS INTEGER) AS attempt,
    queued #>> '{retry_of,run_id}' AS retry_of,
    CASE WHEN last_change = 'run_completed' THEN ending ->> 'answer_status' END AS answer_status,
    CASE WHEN last_change = 'run_completed' THEN ending ->> 'stop_reason' END AS stop_reason,
    CASE WHEN last_change IN ('run_interrupted', 'run_failed') THEN ending ->> 'code' END AS code,
    CAST(jsonb_array_length(
        jsonb_path_query_array(coverage, '$.rows[*] ? (@.coverage == "covered")')
    ) AS DOUBLE PRECISION) / nullif(jsonb_array_length(coverage -> 'rows'), 0) AS coverage,
    sources,
    quotes,
    claims,
    position AS events,
    queued_at,
    started_at,
    ended_at,
    updated_at,
    CAST(
        extract(epoch FROM coalesce(ended_at, updated_at) - started_at) AS DOUBLE PRECISION
    ) AS duration_s,
    rounds,
    supported
FROM life
