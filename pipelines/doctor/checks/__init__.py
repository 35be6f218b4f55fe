"""Checks of this machine and its stores: each returns a finding and changes nothing."""
