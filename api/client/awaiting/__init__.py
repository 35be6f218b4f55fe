"""One of the two clients: `blocking/` is made of `awaiting/` (`api/generate/client.py`)."""
