"""Convert records to the JSON documents that clients read. No ranking, no reading."""
