"""Tables as files: CSV, XLSX, JSON, Parquet, data packages, the published DuckDB file.

One place for what the command line, the console and scheduled exports write.
"""
