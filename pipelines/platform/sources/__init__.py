"""Sources of each question: their table, the rule that orders them, and the planner that asks."""
