"""Listening: from a file to features, from two sets of features to distances and a verdict.

What belongs here: decoding in limited child processes, features, alignment, scores, verdicts.
Not here: the network, Dagster, storage, the choice of what is compared with what.
"""
