"""How every answer looks: the envelope, the errors with their HTTP status, both languages."""
