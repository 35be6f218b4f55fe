"""SQL of users in a process of its own: limited in time, memory, rows and number at once."""
