"""Maintenance of the stores: sorting, compaction, retention, backup, video index, erasure."""
