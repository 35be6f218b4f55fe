"""Compact and vacuum the captured items again and again, until standard input closes.

Usage: compact_items.py LAKE
"""

import sys
import threading

from warehouse.lake.store import open_lake

lake = open_lake(sys.argv[1], world="sandbox")
waiting = threading.Thread(target=sys.stdin.read, daemon=True)
waiting.start()
while waiting.is_alive():
    lake.compact("raw.capture_items")
    lake.vacuum("raw.capture_items")
