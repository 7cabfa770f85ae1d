WITH stage AS (
    SELECT s.run_id, q.body ->> '$.kind' AS kind,
        s.body ->> '$.stage' AS stage, s.time AS started_at,
        round((julianday(e.time) - julianday(s.time)) * 86400000) / 1000 AS duration_s
    FROM events AS s
    JOIN events AS q ON q.run_id = s.run_id AND q.type = 'run_queued'
    LEFT JOIN events AS e
        ON e.run_id = s.run_id AND e.type = 'stage_completed'
        AND e.body ->> '$.stage' = s.body ->> '$.stage'
    WHERE s.type = 'stage_started'
), ranked AS (
    SELECT *,
        row_number() OVER (PARTITION BY run_id ORDER BY started_at) AS nth,
        row_number() OVER (PARTITION BY kind, stage ORDER BY duration_s NULLS LAST) - 1 AS k,
        count(duration_s) OVER (PARTITION BY kind, stage) - 1 AS last
    FROM stage
), named (stage, place) AS (
    VALUES ('preparing', 1), ('acquiring_input', 2), ('extracting_document', 3),
        ('segmenting_document', 4), ('planning', 5), ('plan_review', 6),
        ('collecting_references', 7), ('indexing', 8), ('implementing', 9), ('verifying', 10),
        ('finalizing', 11)
)
SELECT kind, stage, count(duration_s), count(*) - count(duration_s),
    sum(duration_s * max(0, 1 - abs(k - last * 0.5))),
    sum(duration_s * max(0, 1 - abs(k - last * 0.95))),
    max(duration_s), sum(duration_s) / nullif(sum(sum(duration_s)) OVER (PARTITION BY kind), 0)
FROM ranked
LEFT JOIN named USING (stage)
GROUP BY kind, stage
ORDER BY kind DESC, place NULLS LAST, min(nth), stage
