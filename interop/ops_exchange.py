#!/usr/bin/env python3
"""Random cases of ops, forward and gradients, played by TensorFlow and by vigil (replays/ops/README.md: tolerances).

  ops_exchange.py SEED CASES_OF_EACH_OP
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from exchange import ROOT, Exchange, run_tool


def count_gradients(path: str) -> int:
    with open(path, encoding="utf-8") as file:
        return sum('"grads"' in line for line in file)


def main() -> int:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    exchange = Exchange()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ops.jsonl")
        subprocess.run([sys.executable, str(ROOT / "replays/ops/record_ops.py"), sys.argv[1], sys.argv[2], path], check=True)
        *lines, played = run_tool("graph_tool", "ops", path)
        exchange.counts["cases"] = int(played.split()[1])
        exchange.counts["with gradients"] = count_gradients(path)
        for line in lines:
            where, what = line.split(" ", 1)
            with open(path, encoding="utf-8") as file:
                case = file.readlines()[int(where.rsplit(":", 1)[1]) - 1].strip()
            exchange.differ(f"{what}; the case: {case[:1500]}")
    return exchange.finish()


if __name__ == "__main__":
    sys.exit(main())
