"""The scan service: create a job, join a running one, serve a stored result, read, cancel."""
