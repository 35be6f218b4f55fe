"""The assets. Each body is: enter the stage, call, append, report the counts."""
