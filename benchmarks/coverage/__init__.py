"""Coverage estimates over drawn worlds, against what a guest could reach."""
