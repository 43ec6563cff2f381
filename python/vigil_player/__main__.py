"""python -m vigil_player: plays scenarios for `vigil check --player "python -m vigil_player"` and others."""

import os
import sys

from .protocol import NoQuestion, serve


def main() -> int:
    # Answers go to what is standard output now; whatever else prints there goes to standard error.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    from .tensorflow_player import TensorFlowPlayer

    try:
        serve(TensorFlowPlayer(), sys.stdin, answers)
    except NoQuestion as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
