"""The name by which a page finds its parts among the outputs of a notebook.

Alone, because the page must not load what draws them.
"""

PART_TYPE = "application/vnd.sametrack.part+json"
