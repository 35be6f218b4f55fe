"""DuckDB over the lake: views `raw.*` and `marts.*`, and SQL that users write."""
