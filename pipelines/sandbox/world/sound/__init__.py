"""How a world sounds: composition, instruments, voice, edits, encoding. Arrays in, files out."""
