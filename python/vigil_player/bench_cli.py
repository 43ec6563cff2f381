"""vigil-bench MODULE:HOOK... [options]

What hooks cost each run of a session of the TensorFlow that is installed: with each and without, in turn. HOOK is named
as for vigil-verify: a class or a function that needs no arguments, or a function of one argument, the model.

  vigil-bench my_hooks:EarlyStopping
  vigil-bench my_hooks.py:make_early_stopping my_hooks.py:Logs --json -

The columns and the JSON are those of `vigil bench --hook`, but that allocations are not counted.
"""

from __future__ import annotations

import argparse
import json
import sys

from .find_hook import NoHook, find_maker


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {value}")
    return value


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="vigil-bench", description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("hooks", nargs="+", metavar="MODULE:HOOK")
    made.add_argument("--blocks", type=positive, default=41, help="pairs of blocks for each hook (default: 41)")
    made.add_argument("--runs", type=positive, default=250, help="of a block (default: 250)")
    made.add_argument("--json", metavar="FILE", help="write it as JSON, too; - for standard output, without the table")
    return made


def main(argv: list[str] | None = None) -> int:
    a = parser().parse_args(argv)
    try:
        hooks = [(name, find_maker(name)) for name in a.hooks]
    except NoHook as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    from . import bench

    try:
        report = bench.measure(hooks, a.blocks, a.runs)
    except bench.CannotMeasure as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    text = json.dumps(bench.as_json(report), indent=2) + "\n"
    if a.json == "-":
        print(text, end="")
        return 0
    print(bench.table(report), end="")
    if a.json:
        with open(a.json, "w", encoding="utf-8") as file:
            file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
