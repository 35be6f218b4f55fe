"""Where the tracks of an import come from: tables in files, plain links, lists of songs."""
