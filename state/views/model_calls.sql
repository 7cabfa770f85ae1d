-- The steps that called a language model.
-- Columns as in `steps`.
SELECT * FROM steps WHERE model_calls > 0
