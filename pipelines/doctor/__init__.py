"""Health checks: this machine, its stores, and whether each surface still responds as expected.

`checks/` inspects this machine and its stores; `probes/` sends one request to each surface and
compares the keys of its payload. Nothing here starts a scan, and no probe becomes an observation.
"""
