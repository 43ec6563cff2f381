"""vigil-verify MODULE:HOOK [options]

Verifies a hook: drives it through faults on the TensorFlow that is installed, and says which promise it breaks. HOOK is
a class or a function that needs no arguments, or a function of one argument, which gets the model (loss, global_step,
train_op, feedable, graph, scaffold, directory) and makes the hook. MODULE is imported, or is a file that ends in .py.

  vigil-verify my_hooks:EarlyStopping
  vigil-verify my_hooks.py:make_early_stopping --may-not-request-stop
  vigil-verify my_hooks:EarlyStopping --case calm.monitored.alone --trace

The program `vigil` is that of the package; else the one in the PATH, or named by VIGIL.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys

MAY = ("run_train_op", "feed", "wait", "fail", "need_session", "use_outside")


def find_vigil() -> str:
    """The program: VIGIL, the wheel's own, the PATH's; "" if it is nowhere."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "vigil")
    return os.environ.get("VIGIL") or (own if os.access(own, os.X_OK) else "") or shutil.which("vigil") or ""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="vigil-verify", description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("hook", metavar="MODULE:HOOK")
    made.add_argument("--may-not-request-stop", action="store_true", help="it has no leave to stop the training")
    for word in MAY:
        made.add_argument(f"--may-{word.replace('_', '-')}", action="store_true")
    made.add_argument("--may-write", default=[], action="append", metavar="DIR", help="a folder; may be given again")
    made.add_argument("--scenarios", type=int, default=200, help="random ones (default: 200)")
    made.add_argument("--case", default="", help="play this one case only, as a finding names it")
    made.add_argument("--trace", action="store_true", help="print the events of the case")
    return made


def leave_of(may_not_request_stop: bool, may: dict[str, bool]) -> list[str]:
    return ([] if may_not_request_stop else ["request_stop"]) + [word for word in MAY if may.get(word)]


def main(argv: list[str] | None = None) -> int:
    a = parser().parse_args(argv)
    vigil = find_vigil()
    if not vigil:
        print("error: there is no program vigil in the PATH; name it by VIGIL", file=sys.stderr)
        return 2
    may = {word: getattr(a, f"may_{word}") for word in MAY}
    leave = ",".join(leave_of(a.may_not_request_stop, may))
    folders = [word for folder in a.may_write for word in ("--may-write", folder)]
    player = shlex.join([sys.executable, "-m", "vigil_player", "--hook", a.hook, "--leave", leave, *folders])
    again = ["vigil-verify", a.hook] + ["--may-not-request-stop"] * a.may_not_request_stop
    again += [f"--may-{word.replace('_', '-')}" for word in MAY if may[word]] + folders
    command = [vigil, "verify", "--player", player, "--replay-as", shlex.join(again)]
    command += ["--case", a.case] if a.case else ["--scenarios", str(a.scenarios)]
    command += ["--trace"] * a.trace
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
