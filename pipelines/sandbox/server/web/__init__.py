"""Web pages of the sandbox: share pages, account pages, short links, static files."""
