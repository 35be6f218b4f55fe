"""Take the next number of one sequence again and again, and print each at once.

Usage: count_up.py URL COUNT
"""

import sys

from warehouse.control import open_control

url, count = sys.argv[1], int(sys.argv[2])
control = open_control(url, world="sandbox")
for _ in range(count):
    print(control.next_sequences([("music_list", "7000000000000000001")])[0], flush=True)
