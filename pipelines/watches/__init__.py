"""Running watchlists: claiming what is due, looking, comparing, telling.

Every scan goes through the desk as a job of the queue; nothing here scans. Rules are in
`pipelines/domain/watching.py` and `changes.py`. Light to import: the front door keeps the book.
"""
