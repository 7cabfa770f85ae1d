-- The steps that called a language model.
SELECT * FROM steps WHERE model_calls > 0
