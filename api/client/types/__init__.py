"""Types of the answers, written by `make docs` from the API description."""
