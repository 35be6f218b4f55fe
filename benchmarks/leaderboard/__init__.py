"""The leaderboard: which tool finds which recordings in edited queries, all on the same files."""
