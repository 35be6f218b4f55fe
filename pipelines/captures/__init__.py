"""Captures: read one surface, parse it, append the observations; used by assets and the API.

Every attempt is recorded, refusals included. Nothing is concluded here.
"""
