"""Erasing one account from a world: what names it, removing it everywhere, and the proof.

Not here: the orchestrator's runs and the command (`pipelines.erasing`), what captures do about an
erased account (`pipelines.captures.forgetting`).
"""
