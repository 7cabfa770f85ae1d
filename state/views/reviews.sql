-- One row a review request: when a person was asked and answered, what they decided, and who.
--
--   run_id          the run
--   interaction_id  the request's id in the run
--   plan_version    the version of the plan that was shown
--   plan_hash       the hash of that plan
--   action          approve, revise, replace or cancel; null while nobody answered
--   answered_by     who answered
--   channel         from where: cli, prefect and so on
--   requested_at    when a person was asked, UTC
--   answered_at     when the answer was recorded, UTC
--   turnaround_s    seconds between the two
SELECT
    q.run_id,
    q.facts.interaction_id AS interaction_id,
    q.facts.version AS plan_version,
    q.facts.plan_hash AS plan_hash,
    a.facts.action AS action,
    a.facts.by AS answered_by,
    a.facts.channel AS channel,
    q.time AS requested_at,
    a.time AS answered_at,
    (epoch_ms(a.time) - epoch_ms(q.time)) / 1000 AS turnaround_s
FROM events AS q
LEFT JOIN events AS a
    ON a.run_id = q.run_id
    AND a.type = 'review_answered'
    AND a.facts.interaction_id = q.facts.interaction_id
WHERE q.type = 'review_requested'
