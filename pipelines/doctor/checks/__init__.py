"""Checks of this machine and its stores: each returns a result and changes nothing."""
