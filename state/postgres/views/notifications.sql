
WITH life AS (
    SELECT *, lead(type) OVER (PARTITION BY run_id ORDER BY position) IS NOT NULL AS is_over
    FROM events
    WHERE type IN (
        'run_waiting', 'run_resumed', 'run_failed', 'run_completed', 'run_cancelled',
        'run_interrupted'
    )
),
occurrences AS (
    SELECT
        o.run_id,
        o.position,
        substr(o.type, 5) AS what,
        CASE WHEN o.type = 'run_waiting' THEN o.body_json ->> 'interaction_id' END
            AS interaction_id,
        o.time AS occurred_at,
        o.is_over,
        (
            SELECT l.body_json -> 'notify'
            FROM events AS l
            WHERE l.run_id = o.run_id AND l.type = 'run_leased' AND l.position < o.position
            ORDER BY l.position DESC
            LIMIT 1
        ) AS wanted
    FROM life AS o
    WHERE o.type <> 'run_resumed'
),
attempts AS (
    SELECT
        run_id,
        CAST(body_json ->> 'about' AS BIGINT) AS about,
        (array_agg(
            CASE
                WHEN type = 'notification_sent' THEN 'sent'
                WHEN type = 'notification_claimed' THEN 'claimed'
                WHEN CAST(body_json ->> 'gives_up' AS BOOLEAN) THEN 'given-up'
                ELSE 'failed'
            END
            ORDER BY position DESC
        ))[1] AS state,
        max(CAST(body_json ->> 'attempt' AS INTEGER)) AS attempts,
        (array_agg(CAST(body_json ->> 'http_status' AS INTEGER) ORDER BY position DESC) FILTER (
            WHERE body_json ->> 'http_status' IS NOT NULL
        ))[1] AS http_status,
        (array_agg(body_json ->> 'code' ORDER BY position DESC) FILTER (
            WHERE type <> 'notification_claimed'
        ))[1] AS code,
        max(time) FILTER (WHERE type = 'notification_sent') AS told_at
    FROM events
    WHERE type IN ('notification_claimed', 'notification_sent', 'notification_failed')
    GROUP BY run_id, CAST(body_json ->> 'about' AS BIGINT)
)
SELECT
    o.run_id,
    o.position,
    o.what,
    o.interaction_id,
    CASE
        WHEN a.state IN ('sent', 'given-up') THEN a.state
        WHEN o.is_over THEN 'overtaken'
        ELSE coalesce(a.state, 'due')
    END AS state,
    coalesce(a.attempts, 0) AS attempts,
    a.http_status,
    a.code,
    o.occurred_at,
    a.told_at
FROM occurrences AS o
LEFT JOIN attempts AS a ON a.run_id = o.run_id AND a.about = o.position
WHERE o.wanted ? o.what
