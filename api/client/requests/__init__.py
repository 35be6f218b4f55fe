"""What is sent for each operation: method, path, query and body. Sends nothing."""
