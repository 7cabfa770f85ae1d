SELECT * FROM steps WHERE model_calls > 0
