"""The first bytes of a media file: what they show before anything is decoded. No imports, no files.

Some media hosts change one byte of the file type box, so that players of other sites fail. Such a
file is not comparable, by this name. The byte is not put back: that would undo a protection.
"""

HEAD_BYTES = 16
_TYPE = b"ftyp"
_LONGEST_BOX = 1024  # a file type box lists a few brands of four bytes each


def is_altered(head: bytes) -> bool:
    """Return True if the file type box of an MP4 file has another first byte than it must have.

    The box begins with its length, whose first byte is 0 in every real file, and its type.
    """
    length, kind = head[:4], head[4:8]
    if len(kind) < len(_TYPE):
        return False
    if kind == _TYPE:
        return length[0] != 0
    is_box = len(_TYPE) * 2 <= int.from_bytes(length) <= _LONGEST_BOX
    return is_box and kind[1:] == _TYPE[1:]
