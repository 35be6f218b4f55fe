"""Dagster assets. Each body enters its stage, calls the work, appends rows and reports counts."""
