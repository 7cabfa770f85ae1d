-- One row a version of a code plan: where it came from, and how much of it the source backs.
--
--   run_id       the run
--   version      its number in the run, from 1
--   origin       planned, revised after a person's feedback, or replaced by a person
--   title        what is built
--   files        how many files it plans
--   citations    how many quotes of the source it rests on
--   located      how many of them were found in the source's text
--   ambiguities  how many questions the source leaves open
--   plan_hash    the hash that an approval is bound to
--   recorded_at  when it was recorded, UTC
SELECT
    run_id,
    facts.version AS version,
    facts.origin AS origin,
    facts.title AS title,
    len(facts.paths_planned) AS files,
    facts.citations AS citations,
    facts.located AS located,
    facts.ambiguities AS ambiguities,
    facts.plan_hash AS plan_hash,
    time AS recorded_at
FROM events
WHERE type = 'code_plan_recorded'
