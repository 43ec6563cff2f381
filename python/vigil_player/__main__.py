"""python -m vigil_player [--hook MODULE:HOOK [--leave LIST] [--may-write DIR]...]

Plays scenarios for `vigil check --player "python -m vigil_player"` and others. With --hook that hook is verified, by
`vigil verify --player ...`; MODULE:HOOK is a hook or a function that makes one (see vigil-verify --help).
"""

import argparse
import os
import sys

from .protocol import NoQuestion, serve


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m vigil_player", description=__doc__)
    parser.add_argument("--hook", default="", metavar="MODULE:HOOK")
    parser.add_argument("--leave", default="request_stop", metavar="LIST")
    parser.add_argument("--may-write", default=[], action="append", metavar="DIR")
    arguments = parser.parse_args()
    # Answers go to what is standard output now; whatever else prints there goes to standard error.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    from .tensorflow_player import TensorFlowPlayer

    player = TensorFlowPlayer()
    if arguments.hook:
        from .find_hook import find_maker

        maker = find_maker(arguments.hook)
        leave = [word for word in arguments.leave.split(",") if word]
        player = TensorFlowPlayer(maker, arguments.hook, leave, arguments.may_write)
    if sys.stdin is None:
        print("error: cannot read standard input: it is closed; questions come there", file=sys.stderr)
        return 2
    try:
        serve(player, sys.stdin, answers)
    except NoQuestion as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
