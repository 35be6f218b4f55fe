"""The scan service: create or join jobs, serve stored results, read and cancel jobs."""
