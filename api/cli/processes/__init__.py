"""Child processes of a command: start, supervise, stop."""
