"""Execute a job's run: in a warm local process, or in a Dagster deployment."""
