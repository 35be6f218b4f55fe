"""Take tokens of one host, wait as told each time, and print when each request would start.

Usage: take_tokens.py URL COUNT RATE BURST
"""

import sys
import time

from warehouse.control import open_control

url, count, rate_per_s, burst = sys.argv[1], int(sys.argv[2]), *map(float, sys.argv[3:])
control = open_control(url, world="sandbox")
for _ in range(count):
    grant = control.take_token("host", rate_per_s=rate_per_s, burst=burst, daily_budget=10**9)
    time.sleep(grant.wait_s)
    print(time.time())
