-- Which documents several runs cite, byte for byte the same.
-- The twenty that most runs cite.
-- None: no document is cited by more than one run.
--
--   document   [path]  the title or path it was last cited under
--   runs       [n]     runs that cite it
--   citations  [n]     quotes of it that claims rest on, each claim counted
--   quotes     [n]     different quotes among them
--   first_on   [date]  when it was first archived
--   last_on    [date]  when it was last archived
SELECT
    arg_max(name, recorded_at) AS document,
    count(DISTINCT run_id) AS runs,
    count(*) AS citations,
    count(DISTINCT (text_hash, quote_start, quote_end)) AS quotes,
    CAST(min(recorded_at) AS DATE) AS first_on,
    CAST(max(recorded_at) AS DATE) AS last_on
FROM citations
JOIN chosen USING (run_id)
JOIN sources USING (run_id, source_id)
GROUP BY content_hash
HAVING count(DISTINCT run_id) > 1
ORDER BY runs DESC, citations DESC, content_hash
LIMIT 20
