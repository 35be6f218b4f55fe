"""Erase one account from a world: its stores and Dagster's runs."""
