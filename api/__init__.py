"""The front doors: HTTP, console and command line. No Dagster here."""
