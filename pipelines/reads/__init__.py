"""Rules of synchronous reads: cursors over observed lists, and engagement over time. Pure."""
