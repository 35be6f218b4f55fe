"""Who may come in: open sessions of browsers, and read-only links."""
