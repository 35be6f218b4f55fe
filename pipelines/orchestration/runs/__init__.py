"""Runs of a job: in a warm process of this machine, or by the launcher of a Dagster deployment."""
