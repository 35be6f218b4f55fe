"""`sametrack catalog`: import tracks, scan those that are due, report them."""
