"""Pure rules on frozen records. Standard library only; imports nothing of the project."""
