"""One module per surface of the platform; each offers `routes(platform)`, named by surface."""
