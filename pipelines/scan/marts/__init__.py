"""The rows of the marts of one scan: converted in Python, ranked and summed by SQL models."""
