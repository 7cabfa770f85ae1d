-- What the file knows of itself.
--
--   key    `views`
--   value  the hash of the tables and views as they were made
CREATE TABLE meta (key VARCHAR NOT NULL PRIMARY KEY, value VARCHAR NOT NULL);
