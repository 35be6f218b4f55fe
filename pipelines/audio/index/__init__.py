"""Find the recording of a sound among thousands of references: an index of peak constellations."""
