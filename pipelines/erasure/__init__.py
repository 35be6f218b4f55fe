"""Erasure of one account from a whole world: its stores and the orchestrator's runs."""
