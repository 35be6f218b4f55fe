"""Child processes of a command: started, supervised, ended with it."""
