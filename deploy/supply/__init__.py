"""What is handed on with Sametrack: its parts and their licences (`make supply`)."""
