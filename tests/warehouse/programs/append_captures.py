"""Append captures of 25 items, one commit each, and print `acknowledged <capture>` after each.

Usage: append_captures.py LAKE WRITER COUNT
"""

import sys

from warehouse.lake.store import open_lake

url, writer, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
lake = open_lake(url, world="sandbox")
for number in range(count):
    capture_id = f"{writer}-{number}"
    lake.append(
        "raw.capture_items",
        [
            {
                "capture_id": capture_id,
                "position": position,
                "surface": "music_list",
                "entity_id": writer,
                "sequence": number,
                "aweme_id": str(7_000_000_000_000_000_000 + position),
            }
            for position in range(25)
        ],
        job_id=writer,
    )
    print("acknowledged", capture_id, flush=True)
