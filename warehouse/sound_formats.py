"""Formats and codecs that are decoded: names for FFmpeg, for people, and endings of files.

Files come from strangers, so each format more is one parser more that they can attack. Not here:
decoding. No imports.
"""

FORMATS: dict[str, str] = {
    "mov": "MP4, M4A, MOV, 3GP",
    "mp3": "MP3",
    "aac": "AAC",
    "ogg": "Ogg, Opus",
    "wav": "WAV",
    "flac": "FLAC",
    "matroska": "MKV, MKA",
    "webm": "WebM",
}
"""Formats by their name in FFmpeg."""
CODECS: dict[str, str] = {
    "aac": "AAC", "aac_latm": "AAC", "alac": "ALAC", "flac": "FLAC", "mp2": "MP2",
    "mp2float": "MP2", "mp3": "MP3", "mp3float": "MP3", "opus": "Opus", "libopus": "Opus",
    "vorbis": "Vorbis", "libvorbis": "Vorbis", "pcm_alaw": "PCM", "pcm_mulaw": "PCM",
    "pcm_u8": "PCM", "pcm_s16le": "PCM", "pcm_s24le": "PCM", "pcm_s32le": "PCM",
    "pcm_f32le": "PCM", "pcm_f64le": "PCM", "pcm_s16be": "PCM", "pcm_s24be": "PCM",
}  # fmt: skip
"""Codecs by their name in FFmpeg."""
FORMAT_NAMES = ", ".join(FORMATS.values())
CODEC_NAMES = ", ".join(dict.fromkeys(CODECS.values()))
SUFFIXES = frozenset({
    ".3gp", ".aac", ".flac", ".m4a", ".m4b", ".m4v", ".mka", ".mkv", ".mov", ".mp3", ".mp4",
    ".oga", ".ogg", ".opus", ".wav", ".webm",
})  # fmt: skip
"""Endings of files in these formats."""
OTHER_SUFFIXES = frozenset({
    ".ac3", ".aif", ".aifc", ".aiff", ".amr", ".ape", ".au", ".avi", ".caf", ".flv", ".ts", ".wma",
    ".wmv", ".wv",
})  # fmt: skip
"""Endings of other formats: a folder of such files is not taken for one without sounds."""
