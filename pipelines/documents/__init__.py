"""Records as the JSON documents that clients read. Conversion only: no ranking, no reading."""
