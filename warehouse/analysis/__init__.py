"""The warehouse for analysts: relations, data frames and descriptions, for reading alone."""
