"""Tables as files: CSV, XLSX, JSON, Parquet, data packages, the published DuckDB file.

Shared by the command line, the console and scheduled exports.
"""
