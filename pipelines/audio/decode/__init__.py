"""Media files to mono samples and features, inside limits, in child processes that may die."""
