"""What processes share about upstream hosts: token buckets, daily budgets, circuits, robots
files.
"""
