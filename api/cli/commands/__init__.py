"""Commands that scan, read and analyse, one module per command group."""
