"""Pure rules of a scan: candidates, expansion, ranking, coverage estimate and the result."""
