"""A capture: read one surface, parse it, append what was observed. Assets and API use the same.

Every attempt leaves a row, refusals included. Nothing is concluded here.
"""
