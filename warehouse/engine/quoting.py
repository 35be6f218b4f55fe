"""Names and texts as parts of a statement, for what takes no parameters."""


def sql_name(name: str) -> str:
    """Return a name in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def sql_text(value: str) -> str:
    """Return a text in single quotes."""
    return "'" + value.replace("'", "''") + "'"
