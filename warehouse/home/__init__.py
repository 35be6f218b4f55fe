"""The home of one world: its folder below `DATA_HOME`, files next to the lake, free disk space."""
