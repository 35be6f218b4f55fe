"""The commands that collect and read, one module per command group."""
