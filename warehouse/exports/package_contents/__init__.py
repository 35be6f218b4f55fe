"""What a data package has beside the tables of the lake: rows of results, a README, a program.

`report_numbers.py` is that program: packages contain it, and nothing here imports it.
"""
