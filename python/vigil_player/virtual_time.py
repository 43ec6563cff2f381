"""Python's clock for a hook under verification."""

import contextlib
import threading
import time

from . import world


def _virtual(w):
    """What stands for the functions of the module `time`."""
    gmtime, localtime, ctime, strftime, asctime = time.gmtime, time.localtime, time.ctime, time.strftime, time.asctime

    def now(secs):
        return w.now if secs is None else secs

    def ns():
        return round(w.now * 1e9)

    return {
        "time": lambda: w.now, "monotonic": lambda: w.now, "perf_counter": lambda: w.now,
        "time_ns": ns, "monotonic_ns": ns, "perf_counter_ns": ns,
        "gmtime": lambda secs=None: gmtime(now(secs)),
        "localtime": lambda secs=None: localtime(now(secs)),
        "ctime": lambda secs=None: ctime(now(secs)),
        "asctime": lambda when=None: asctime(localtime(w.now) if when is None else when),
        "strftime": lambda text, when=None: strftime(text, localtime(w.now) if when is None else when),
        "sleep": w.pass_time,
    }


@contextlib.contextmanager
def virtual_time():
    """While a hook is called, the clock is the virtual one in its thread, and sleeping turns it."""
    here = threading.current_thread()
    virtual = _virtual(world.active)
    real = {name: getattr(time, name) for name in virtual}

    def here_or(name):
        return lambda *args: (virtual if threading.current_thread() is here else real)[name](*args)

    for name in virtual:
        setattr(time, name, here_or(name))
    try:
        yield
    finally:
        for name, function in real.items():
            setattr(time, name, function)
