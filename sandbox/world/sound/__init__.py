"""Sound synthesis of a world: composition, instruments, voice, effects, encoding, cache."""
