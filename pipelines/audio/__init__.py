"""Audio analysis: decode files, extract features, compare two sounds and reach a verdict.

Holds decoding in resource-limited child processes, features, alignment, scores and verdicts.
Not here: network access, Dagster, storage, the choice of which sounds are compared.
"""
