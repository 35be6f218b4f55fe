"""State that processes share about upstream hosts: budgets, circuits, robots files, answers."""
