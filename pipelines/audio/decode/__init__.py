"""Decode media files to mono samples and features in resource-limited child processes."""
