"""The assets of a scan. Each body is: enter the stage, call, append, report the counts."""
