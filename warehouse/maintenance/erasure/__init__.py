"""Erasure of one account from the stores of a world: find its names, remove them, prove it.

Runs of the orchestrator and the command are in `pipelines.erasure`; captures of erased accounts in
`pipelines.captures.erased_accounts`.
"""
