"""DuckDB over the lake: views `raw.*`, `marts.*` and `seen.*`, and SQL that users write."""
