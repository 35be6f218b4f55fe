"""Parameters of scans and reads: names, types, defaults and limits, each declared once."""
