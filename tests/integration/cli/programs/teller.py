"""Tells how it was started, and ends with the status that it is given; or never."""

import json
import os
import sys
import time

import psutil

status = sys.argv[1]
if status == "endless":
    time.sleep(300)
told = {
    "arguments": sys.argv[1:],
    "main": __name__,
    "told": os.environ["TOLD"],
    "leads": {"session": os.getsid(0) == os.getpid(), "group": os.getpgrp() == os.getpid()},
    "command": " ".join(psutil.Process().cmdline()).strip(),
    "preloaded": "dagster" in sys.modules,
}
print(json.dumps(told))
sys.exit(int(status))
