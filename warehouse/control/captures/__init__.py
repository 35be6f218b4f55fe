"""State that processes share about captures: claims, the backlog, sequence numbers, generations."""
