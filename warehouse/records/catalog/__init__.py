"""Records of catalogues: named lists of up to 10,000 tracks that are scanned as one plan."""
