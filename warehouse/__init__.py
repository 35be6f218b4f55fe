"""Where facts rest: tables, lake, engine, control store and typed reads."""
