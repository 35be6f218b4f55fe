"""Commands that query, export and trace what is stored."""
