-- Which hosts and folders are cited most.
-- The first twenty.
-- None: no claim cites a source.
--
--   place      [path]   the host of a URL, the folder of a file
--   citations  [n]      quotes that claims rest on, each claim counted
--   claims     [n]      claims that cite a source there
--   supported  [share]  the share of them that checking found supported
--   sources    [n]      sources that are cited
--   runs       [n]      runs that cite one
SELECT
    place,
    count(*) AS citations,
    count(DISTINCT (run_id, claim_id)) AS claims,
    count(DISTINCT (run_id, claim_id)) FILTER (WHERE verdict = 'supported')
        / count(DISTINCT (run_id, claim_id)) AS supported,
    count(DISTINCT content_hash) AS sources,
    count(DISTINCT run_id) AS runs
FROM citations
JOIN chosen USING (run_id)
JOIN sources USING (run_id, source_id)
JOIN claims USING (run_id, claim_id)
GROUP BY place
ORDER BY citations DESC, place
LIMIT 20
