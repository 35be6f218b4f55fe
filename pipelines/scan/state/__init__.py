"""The working state of a scan, and the checkpoints from which another run goes on."""
