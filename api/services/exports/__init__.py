"""Exports: which tables an answer holds, and the file of one."""
