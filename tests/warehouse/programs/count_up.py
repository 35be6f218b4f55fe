"""Take the next number of one sequence again and again, and print each at once after a name.

Usage: count_up.py URL COUNT NAME
"""

import sys

from warehouse.control import captures, open_control

url, count, name = sys.argv[1], int(sys.argv[2]), sys.argv[3]
control = open_control(url, world="sandbox")
for _ in range(count):
    print(
        name,
        captures.next_numbers(control, [("music_list", "7000000000000000001")])[0],
        flush=True,
    )
