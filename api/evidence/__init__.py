"""What a person can look at and hear of a compared pair: pictures, excerpts, the stored numbers.

`picture.py` lays a picture out, `svg.py` and `png.py` write it, `desk.py` reads what is stored.
"""
