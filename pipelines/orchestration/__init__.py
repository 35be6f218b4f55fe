"""Dagster: assets, checks, jobs, schedules, sensors, resources, runs and the worker."""
