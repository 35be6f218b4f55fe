"""Recording of captures: what was asked and observed, as rows of the lake, bodies first."""
