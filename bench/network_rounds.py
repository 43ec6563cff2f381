#!/usr/bin/env python3
"""Messages of 64 MiB beside a raw stream of gRPC, in rounds, since machines change their speed from minute to minute.

    bench/network_rounds.py build/release/bench/vigil_network_bench [ROUNDS]

In each round all five are measured, in a process each, beginning with another one; printed are milliseconds, and in the
end the medians of the ratios to the stream of the same round: more is faster.
"""

import re
import statistics
import subprocess
import sys

STREAM = "MiBOnARawStream"
NAMES = [STREAM, "MiBAsked", "MiBAnswered", "MiBFed", "MiBFetched"]


def milliseconds(program, name):
    command = [program, f"--benchmark_filter={name}/64", "--benchmark_min_time=0.7"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"real_time\s+(\d+) ns", told)
    if found is None:
        sys.exit(f"{' '.join(command)} told no time: {told}")
    return int(found.group(1)) / 1e6


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    ratios = {name: [] for name in NAMES}
    for number in range(int(sys.argv[2]) if len(sys.argv) > 2 else 9):
        first = number % len(NAMES)
        took = {name: milliseconds(sys.argv[1], name) for name in NAMES[first:] + NAMES[:first]}
        print("  ".join(f"{name} {took[name]:.0f} ms" for name in NAMES), flush=True)
        for name in NAMES:
            ratios[name].append(took[STREAM] / took[name])
    for name in NAMES:
        print(f"{name}: {statistics.median(ratios[name]):.2f} ({min(ratios[name]):.2f} to {max(ratios[name]):.2f})")


if __name__ == "__main__":
    main()
