"""Maintenance of the stores: compaction, sorting, retention, backup and restore, the video
index.
"""
