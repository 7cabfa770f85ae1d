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
        facts.artifact_id AS source_id,
        facts.locator AS locator,
        facts.name AS name,
        'archived' AS disposition,
        NULL AS code,
        facts.content_hash AS content_hash,
        facts.media_type AS media_type,
        facts.size AS bytes,
        facts.rendition.characters AS characters,
        facts.rendition.extractor AS extractor,
        time AS recorded_at
    FROM events
    WHERE (type = 'research_artifact_recorded' AND facts.role = 'source')
        OR type = 'code_source_recorded'
    UNION ALL
    SELECT
        run_id, NULL, facts.locator, NULL, 'skipped', facts.code,
        NULL, NULL, NULL, NULL, NULL, time
    FROM events
    WHERE type = 'research_source_skipped'
)
