"""Format of responses: the envelope, errors with their HTTP status, texts in both languages."""
