-- One row a source that was archived or could not be: where it is, and what became of it.
--
--   run_id        the run
--   source_id     its id in the run; null when it was skipped
--   locator       where it is: a path or a URL
--   name          its title, or what people know it by
--   disposition   archived or skipped
--   code          why it was skipped, for programs
--   content_hash  the content hash of its bytes
--   media_type    the type of its bytes
--   bytes         their number
--   characters    the length of the text made of them; null where none was
--   extractor     what made the text
--   recorded_at   when it was recorded, UTC
--   place         the host of a URL, the folder of a file
SELECT
    run_id,
    source_id,
    locator,
    name,
    disposition,
    code,
    content_hash,
    media_type,
    bytes,
    characters,
    extractor,
    recorded_at,
    CASE
        WHEN contains(locator, '://')
        THEN lower(regexp_extract(locator, '://(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)', 1))
        ELSE regexp_replace(locator, '/[^/]*$', '')
    END AS place
FROM (
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
)
