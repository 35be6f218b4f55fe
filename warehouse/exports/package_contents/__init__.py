"""Contents of a data package besides tables of the lake: rows of results, a README, a program.

`report_numbers.py` is that program: packages contain it, and nothing here imports it.
"""
