"""Recording of captures: requests and observations as rows of the lake, payloads first."""
