"""The doctor: is this machine fit for work, and does each surface still answer as we know it?

`machine.py` looks at this machine, `asking.py` asks each surface one polite question, `shapes.py`
says which keys came and went. Nothing here starts a scan, and no probe becomes an observation.
"""
