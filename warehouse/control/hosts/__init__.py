"""State that processes share about upstream hosts: rate limits, budgets, circuits, robots files."""
