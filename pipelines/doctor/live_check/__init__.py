"""The live check: one polite request to each surface, and what the answers say about the profile.

`round.py` asks, `analysis.py` and `proposal.py` conclude, `report.py` and `run.py` write. It is
meant for the first hour against the real platform, and is tried out against the sandbox.
"""
