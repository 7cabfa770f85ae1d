-- One row an occurrence that a webhook is to be told of, and how far that has come.
-- A wait that is over, or an interruption that the run went on from, is not told of any more.
--
--   run_id          the run
--   position        the event's number in the run
--   what            waiting, failed, completed, cancelled or interrupted
--   interaction_id  the request that is waited for; null of all others
--   state           due, claimed (a process is or was at it), failed, sent, given-up or overtaken
--   attempts        how often it was tried
--   http_status     what the receiver answered last; null when nothing
--   code            why the last attempt failed, for programs
--   occurred_at     when it occurred, UTC
--   told_at         when the receiver took it, UTC; null while it has not
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
        run_id,
        position,
        substr(type, 5) AS what,
        facts.interaction_id AS interaction_id,
        time AS occurred_at,
        is_over,
        (
            SELECT arg_max(l.facts.notify, l.position)
            FROM events AS l
            WHERE l.run_id = o.run_id AND l.type = 'run_leased' AND l.position < o.position
        ) AS wanted
    FROM life AS o
    WHERE type <> 'run_resumed'
),
attempts AS (
    SELECT
        run_id,
        facts.about AS about,
        arg_max(
            CASE
                WHEN type = 'notification_sent' THEN 'sent'
                WHEN type = 'notification_claimed' THEN 'claimed'
                WHEN facts.gives_up THEN 'given-up'
                ELSE 'failed'
            END,
            position
        ) AS state,
        max(facts.attempt) AS attempts,
        arg_max(facts.http_status, position) AS http_status,
        arg_max(coalesce(facts.code, ''), position) FILTER (
            WHERE type <> 'notification_claimed'
        ) AS code,
        max(time) FILTER (WHERE type = 'notification_sent') AS told_at
    FROM events
    WHERE type IN ('notification_claimed', 'notification_sent', 'notification_failed')
    GROUP BY run_id, facts.about
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
    nullif(a.code, '') AS code,
    o.occurred_at,
    a.told_at
FROM occurrences AS o
LEFT JOIN attempts AS a ON a.run_id = o.run_id AND a.about = o.position
WHERE list_contains(o.wanted, o.what)
