WITH quoted AS (
    SELECT run_id, body ->> '$.quote.source_id' AS source_id,
        count(DISTINCT body ->> '$.evidence_id') AS quotes
    FROM events
    WHERE type = 'research_evidence_accepted'
    GROUP BY 1, 2
), source AS MATERIALIZED (
    SELECT run_id, body ->> '$.artifact_id' AS source_id, body ->> '$.media_type' AS media_type,
        body ->> '$.rendition.characters' AS characters
    FROM events
    WHERE type = 'research_artifact_recorded' AND body ->> '$.role' = 'source'
), ranked AS (
    SELECT media_type, quotes, characters,
        row_number() OVER (PARTITION BY media_type ORDER BY characters) - 1 AS k,
        count(*) OVER (PARTITION BY media_type) - 1 AS last
    FROM source LEFT JOIN quoted USING (run_id, source_id)
    WHERE characters IS NOT NULL
)
SELECT media_type, count(*), count(quotes), 1.0 * count(quotes) / count(*),
    coalesce(sum(quotes), 0), 1.0 * coalesce(sum(quotes), 0) / count(*),
    CAST(sum(characters * max(0, 1 - abs(k - last * 0.5))) AS INTEGER)
FROM ranked
GROUP BY media_type
ORDER BY 5 DESC, 1
