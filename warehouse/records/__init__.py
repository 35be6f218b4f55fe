"""Frozen records of what is stored, their enumerations, and the root of all errors.

Standard library only: every other folder of the project may import this one.
"""
