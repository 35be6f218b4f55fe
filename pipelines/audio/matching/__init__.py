"""Two sounds compared: alignment, hypotheses of edits, scores, the verdict. Arrays in, records
out.
"""
