-- How often the tests of code pass, by verification.
-- None: no code was verified.
--
--   attempt        [n]      0 for the first verification, then the number of the repair before it
--   verifications  [n]      how many there were
--   passed         [n]      all tests passed
--   passed_share   [share]  their share
--   failed         [n]      a test failed, or the code could not be tested
--   not_run        [n]      no test was executed
--   timeout        [n]      the time was up
--   tampered       [n]      a frozen test had been changed
--   tests          [ratio]  tests that were executed, in the mean
SELECT
    attempt,
    count(*) AS verifications,
    count(*) FILTER (WHERE verdict = 'passed') AS passed,
    count(*) FILTER (WHERE verdict = 'passed') / count(*) AS passed_share,
    count(*) FILTER (WHERE verdict = 'failed') AS failed,
    count(*) FILTER (WHERE verdict IN ('no_tests', 'not_executed')) AS not_run,
    count(*) FILTER (WHERE verdict = 'timeout') AS timeout,
    count(*) FILTER (WHERE verdict = 'tampered') AS tampered,
    avg(executed) AS tests
FROM verifications
JOIN chosen USING (run_id)
GROUP BY attempt
ORDER BY attempt
