"""Many users of the console and many jobs at once, with faults on, for a while."""
