"""Catalogues and their tracks in the control store."""
