"""The pages that browsers see: share pages, account pages, short links, static files."""
