WITH stage AS (
    SELECT s.run_id, s.body ->> '$.stage' AS stage, s.time AS started_at,
        round((julianday(e.time) - julianday(s.time)) * 86400000) / 1000 AS duration_s
    FROM events AS s
    LEFT JOIN events AS e
        ON e.run_id = s.run_id AND e.type = 'stage_completed'
        AND e.body ->> '$.stage' = s.body ->> '$.stage'
    WHERE s.type = 'stage_started'
), ranked AS (
    SELECT *,
        row_number() OVER (PARTITION BY run_id ORDER BY started_at) AS nth,
        row_number() OVER (PARTITION BY stage ORDER BY duration_s NULLS LAST) - 1 AS k,
        count(duration_s) OVER (PARTITION BY stage) - 1 AS last
    FROM stage
)
SELECT stage, count(duration_s), count(*) - count(duration_s),
    sum(duration_s * max(0, 1 - abs(k - last * 0.5))),
    sum(duration_s * max(0, 1 - abs(k - last * 0.95))),
    max(duration_s), sum(duration_s) / sum(sum(duration_s)) OVER ()
FROM ranked
GROUP BY stage
ORDER BY min(nth), stage
