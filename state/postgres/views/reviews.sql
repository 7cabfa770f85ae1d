SELECT
    q.run_id,
    q.body_json ->> 'interaction_id' AS interaction_id,
    CAST(q.body_json ->> 'version' AS INTEGER) AS plan_version,
    q.body_json ->> 'plan_hash' AS plan_hash,
    a.body_json ->> 'action' AS action,
    a.body_json ->> 'by' AS answered_by,
    a.body_json ->> 'channel' AS channel,
    q.time AS requested_at,
    a.time AS answered_at,
    CAST(extract(epoch FROM a.time - q.time) AS DOUBLE PRECISION) AS turnaround_s
FROM events AS q
LEFT JOIN events AS a
    ON a.run_id = q.run_id
    AND a.type = 'review_answered'
    AND a.body_json ->> 'interaction_id' = q.body_json ->> 'interaction_id'
WHERE q.type = 'review_requested'
