-- One row a source that was archived or could not be: where it is, and what became of it.
SELECT
    run_id,
    (body ->> '$.artifact_id') AS source_id,
    (body ->> '$.locator') AS locator,
    (body ->> '$.name') AS name,
    'archived' AS disposition,
    NULL AS code,
    (body ->> '$.content_hash') AS content_hash,
    (body ->> '$.media_type') AS media_type,
    CAST(body ->> '$.size' AS BIGINT) AS bytes,
    CAST(body ->> '$.rendition.characters' AS BIGINT) AS characters,
    (body ->> '$.rendition.extractor') AS extractor,
    time AS recorded_at
FROM events
WHERE type = 'research_artifact_recorded' AND (body ->> '$.role') = 'source'
UNION ALL
SELECT
    run_id, NULL, (body ->> '$.locator'), NULL, 'skipped', (body ->> '$.code'),
    NULL, NULL, NULL, NULL, NULL, time
FROM events
WHERE type = 'research_source_skipped'
