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
        WHEN position('://' IN locator) > 0
        THEN lower((regexp_match(locator, '://(?:[^/?#@]*@)?(\[[^]]*\]|[^/?#:]*)'))[1])
        ELSE regexp_replace(locator, '/[^/]*$', '')
    END AS place
FROM (
    SELECT
        run_id,
        body_json ->> 'artifact_id' AS source_id,
        body_json ->> 'locator' AS locator,
        body_json ->> 'name' AS name,
        'archived' AS disposition,
        NULL AS code,
        body_json ->> 'content_hash' AS content_hash,
        body_json ->> 'media_type' AS media_type,
        CAST(body_json ->> 'size' AS BIGINT) AS bytes,
        CAST(body_json #>> '{rendition,characters}' AS BIGINT) AS characters,
        body_json #>> '{rendition,extractor}' AS extractor,
        time AS recorded_at
    FROM events
    WHERE (type = 'research_artifact_recorded' AND body_json ->> 'role' = 'source')
        OR type = 'code_source_recorded'
    UNION ALL
    SELECT
        run_id, NULL, body_json ->> 'locator', NULL, 'skipped', body_json ->> 'code',
        NULL, NULL, NULL, NULL, NULL, time
    FROM events
    WHERE type = 'research_source_skipped'
) AS found
