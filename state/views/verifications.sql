-- One row a time that code was verified: how many tests ran, and what may be said of it.
--
--   run_id       the run
--   attempt      0 for the first, then the number of the repair before it
--   verdict      passed, failed, no_tests, not_executed, timeout or tampered
--   level        how the tests were confined: namespaces, landlock or none
--   commands     how many test commands were run
--   executed     how many tests ran
--   passed       how many of them passed
--   failed       how many of them failed
--   skipped      how many tests were skipped
--   tampered     how many frozen files had been changed
--   reason       why it is so, in words
--   verified_at  when it was recorded, UTC
SELECT
    run_id,
    facts.attempt AS attempt,
    facts.verdict AS verdict,
    facts.level AS level,
    facts.commands AS commands,
    facts.executed AS executed,
    facts.passed AS passed,
    facts.failed AS failed,
    facts.skipped AS skipped,
    len(facts.tampered) AS tampered,
    facts.reason AS reason,
    time AS verified_at
FROM events
WHERE type = 'code_verified'
