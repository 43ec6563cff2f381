"""What a hook costs each run of TensorFlow's session, with the columns and the JSON of `vigil bench --hook`.

A machine is faster now and slower then, by more than a hook costs. So each hook is measured in pairs: some runs of a
monitored session with it, and as many of a session like it without, alternately first and second; what is told is the
median of the differences. The first row is always a hook that does nothing: the floor. Allocations are not counted.

Nothing of TensorFlow is patched here: `seams` must not have been imported into the process.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from . import model as models
from . import tensorflow_v1, verified

tf: Any = tensorflow_v1.tf  # type: ignore[attr-defined]
Model: Any = models.Model
HookParts: Any = verified.HookParts

FLOOR = "(does nothing)"
Maker = Callable[[Any], Any]


class CannotMeasure(Exception):
    """A hook that cannot be made, fails, or stops the training; the text names it."""


@dataclass
class HookOverhead:
    """Nanoseconds of one run with the hook, less one without."""

    name: str
    ns: float  # the median over the blocks
    low: float  # their quartiles
    high: float
    ns_later: float  # by which a run becomes dearer with each thousand runs (Theil and Sen's slope)


@dataclass
class OverheadReport:
    run_ns: float  # of a session without hooks
    blocks: int
    runs: int
    hooks: list[HookOverhead] = field(default_factory=list)


@contextlib.contextmanager
def training(name: str, maker: Maker | None, directory: str) -> Iterator[Callable[[int], int]]:
    """A session with the hook, or with none: a function that makes so many runs and says how long they took."""
    model = Model({}, falling=True)
    with model.graph.as_default():
        model.scaffold = tf.train.Scaffold()
        try:
            hooks = [] if maker is None else [maker(HookParts(model, directory))]
        except Exception as error:
            raise CannotMeasure(f"the hook {name} could not be made: {type(error).__name__}: {error}") from error
        with fails_by_name(name):
            session = tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold=model.scaffold), hooks=hooks)

        def runs(count: int) -> int:
            start = time.perf_counter_ns()
            with fails_by_name(name):
                for _ in range(count):
                    if session.should_stop():
                        break
                    session.run(model.train)
            took = time.perf_counter_ns() - start
            if session.should_stop():
                raise CannotMeasure(f"the hook {name} stops the training before it was measured: let it stop later")
            return took

        try:
            yield runs
        finally:
            with contextlib.suppress(Exception):
                session.close()


@contextlib.contextmanager
def fails_by_name(name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise CannotMeasure(f"the hook {name} fails: {type(error).__name__}: {error}") from error


def slope(values: list[float]) -> float:
    """Theil and Sen's, a step."""
    slopes = [(b - a) / (j - i) for i, a in enumerate(values) for j, b in enumerate(values) if j > i]
    return statistics.median(slopes) if slopes else 0.0


def quartiles(values: list[float]) -> tuple[float, float, float]:
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def measure_one(name: str, maker: Maker, directory: str, blocks: int, runs: int) -> tuple[HookOverhead, list[float]]:
    """The hook, and how long runs without it took."""
    with training(name, maker, directory) as with_it, training(name, None, directory) as without:
        with_it(runs), without(runs)  # warms up
        differences, plain = [], []
        for block in range(blocks):
            order = (with_it, without) if block % 2 == 0 else (without, with_it)
            took = {side: side(runs) for side in order}
            differences.append((took[with_it] - took[without]) / runs)
            plain.append(took[without] / runs)
    low, middle, high = quartiles(differences)
    return HookOverhead(name, middle, low, high, slope(differences) * 1000 / runs), plain


def measure(hooks: list[tuple[str, Maker]], blocks: int = 41, runs: int = 250) -> OverheadReport:
    """Raises CannotMeasure. `blocks` and `runs` are positive."""
    rows, plain = [], []
    with tempfile.TemporaryDirectory(prefix="vigil") as folder:
        for number, (name, maker) in enumerate([(FLOOR, lambda _parts: tf.train.SessionRunHook()), *hooks]):
            directory = os.path.join(folder, str(number))
            os.mkdir(directory)
            row, without = measure_one(name, maker, directory, blocks, runs)
            rows.append(row)
            plain += without
    return OverheadReport(statistics.median(plain), blocks, runs, rows)


def table(report: OverheadReport) -> str:
    width = max(len(hook.name) for hook in report.hooks)
    text = f"{'hook':<{width}}  {'ns a run':>9}  {'quartiles':>19}  {'ns later':>10}  {'allocs':>6}\n"
    for hook in report.hooks:
        between = f"{hook.low:.0f} to {hook.high:.0f}"
        text += f"{hook.name:<{width}}  {hook.ns:>9.0f}  {between:>19}  {hook.ns_later:>10.2f}  {'-':>6}\n"
    return text + (
        f"A run without hooks takes {report.run_ns:.0f} ns. Each hook: {report.blocks} pairs of {report.runs} runs, "
        'with it less without; "ns later" is by\nwhich a run becomes dearer with each thousand runs.\n')


def as_json(report: OverheadReport) -> dict[str, Any]:
    hooks = [{"name": hook.name, "ns": round(hook.ns, 1), "low": round(hook.low, 1), "high": round(hook.high, 1),
              "ns_later": round(hook.ns_later, 3), "allocations": None} for hook in report.hooks]
    return {"run_ns": round(report.run_ns, 1), "blocks": report.blocks, "runs": report.runs, "hooks": hooks}
