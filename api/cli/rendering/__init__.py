"""Answers as terminal tables. Text from outside passes `terminal.safe` first."""
