"""The features of one sound: spectra, chroma and mel bands, spectral peaks. Arrays in, arrays
out.
"""
