"""Notes and tags of users in the control store."""
