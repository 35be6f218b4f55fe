"""Facts at rest: records, tables, lake, engine, queries, control store, exports and maintenance."""
