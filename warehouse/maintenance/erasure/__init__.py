"""Erase one account from the stores of a world: what names it, its removal everywhere, the proof.

Not here: the orchestrator's runs and the command (`pipelines.erasure`), what captures do about an
erased account (`pipelines.captures.erased_accounts`).
"""
