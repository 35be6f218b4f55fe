"""Provider `file`: accounts and videos from two JSON files of the operator."""
