-- How many quotes a source of research yields, by the type of source.
-- None: no source was read.
--
--   media_type             the type of the sources' bytes; all for the sum of several
--   read          [n]      sources that were read
--   quoted        [n]      sources of which at least one quote was accepted
--   quoted_share  [share]  their share
--   quotes        [n]      quotes that were accepted
--   per_source    [ratio]  quotes for each source read
--   characters    [n]      the median length of their text
SELECT
    CASE WHEN grouping(media_type) = 1 THEN 'all' ELSE media_type END AS media_type,
    count(*) AS read,
    count(quotes) AS quoted,
    count(quotes) / count(*) AS quoted_share,
    CAST(coalesce(sum(quotes), 0) AS BIGINT) AS quotes,
    coalesce(sum(quotes), 0) / count(*) AS per_source,
    CAST(median(characters) AS BIGINT) AS characters
FROM sources
JOIN chosen USING (run_id)
LEFT JOIN (SELECT run_id, source_id, count(*) AS quotes FROM evidence GROUP BY ALL)
    USING (run_id, source_id)
WHERE disposition = 'archived' AND characters IS NOT NULL
    AND run_id NOT IN (SELECT run_id FROM runs WHERE kind = 'paper2code')
GROUP BY GROUPING SETS ((media_type), ())
HAVING grouping(media_type) = 0 OR count(DISTINCT media_type) > 1
ORDER BY grouping(media_type), quotes DESC, 1
