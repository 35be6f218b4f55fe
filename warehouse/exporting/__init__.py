"""Tables to take along: kinds of files, their rules, and what stands beside a table.

One place for what the command line, the console and scheduled exports write.
"""
