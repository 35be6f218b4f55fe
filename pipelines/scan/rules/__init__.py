"""The rules of a scan: candidates, expansion, ranking, coverage estimate, the result. Pure."""
