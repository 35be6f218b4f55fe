"""Provider `mock`: all data from a sandbox world in this process. Nothing is contacted."""
