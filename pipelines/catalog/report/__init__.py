"""The report of a catalogue: tables of its tracks, music ids and videos, as page and as files."""
