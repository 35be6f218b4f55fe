"""Pure rules of catalogues: what an import means, which tracks are due."""
