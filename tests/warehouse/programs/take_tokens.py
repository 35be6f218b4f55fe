"""Take tokens of one host while time stands still, and print how long each is to be waited for.

Usage: take_tokens.py URL COUNT RATE BURST
"""

import sys

from warehouse.control import hosts, open_control

NOW = 1_800_000_000.0
url, count, rate_per_s, burst = sys.argv[1], int(sys.argv[2]), *map(float, sys.argv[3:])
control = open_control(url, world="sandbox", clock=lambda: NOW)
for _ in range(count):
    grant = hosts.take_token(
        control, "host", rate_per_s=rate_per_s, burst=burst, daily_budget=10**9
    )
    print(grant.wait_s)
