"""Pure rules of synchronous reads: cursors over observed lists, engagement over time."""
