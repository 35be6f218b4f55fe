"""The home of one world: the folder below `DATA_HOME`, its files beside the lake, its free
space.
"""
