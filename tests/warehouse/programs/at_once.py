"""Run a program in several processes at the same time, forked once what it imports is loaded.

Usage: at_once.py MODULE PROGRAM ARGUMENTS, the last as JSON: one list of arguments per process.
Ends with status 1 if one of them has failed.
"""

import json
import os
import runpy
import sys
from importlib import import_module

import structlog

module, program, argument_lists = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
import_module(module)
structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))  # not among the output
# a line is one write, which no other process gets into
sys.stdout.reconfigure(line_buffering=True, write_through=False)  # type: ignore[union-attr]
for arguments in argument_lists:
    if os.fork() == 0:
        sys.argv = [program, *arguments]
        runpy.run_path(program, run_name="__main__")
        sys.exit()
ends = [os.wait()[1] for _ in argument_lists]
sys.exit(any(ends))
