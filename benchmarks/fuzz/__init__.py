"""Mutated answers of every surface, and what must hold of whatever a parser makes of them."""
