"""Audio features of one sound: spectra, chroma, mel bands and spectral peaks."""
