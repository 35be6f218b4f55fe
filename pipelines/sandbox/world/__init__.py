"""The sandbox world: accounts, tracks, sounds, videos and ground truth. Deterministic, no
network.
"""
