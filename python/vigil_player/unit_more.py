"""Unit recordings of what places nodes on devices and of looper threads."""

import types

from . import world
from .errors import code_of, make_error
from .tensorflow_v1 import coordinator, tf

NODES = {
    "Const": lambda: tf.constant(1.0),
    "NoOp": tf.no_op,
    "Placeholder": lambda: tf.placeholder(tf.float32),
    "VariableV2": lambda: tf.raw_ops.VariableV2(shape=[], dtype=tf.float32),
}


def place(scenario, out):
    """replica_device_setter: the device of each node."""
    args = dict(scenario["args"])
    if "cluster" in args:
        jobs = args["cluster"]
        args["cluster"] = {job: ["host%d:2222" % i for i, each in enumerate(jobs) if each == job] for job in jobs}
    with tf.Graph().as_default():
        try:
            setter = tf.train.replica_device_setter(**args)
        except Exception as error:
            out.append("error " + code_of(error))
            return
        out.append("no setter" if setter is None else "constructed")
        for op in scenario["ops"]:
            try:
                with tf.device(setter), tf.device(op.get("device")) if "device" in op else no_scope():
                    node = NODES[op["type"]]()
                out.append("%s -> %s" % (op["type"], node.device or "anywhere"))
            except Exception as error:
                out.append("%s failed %s" % (op["type"], code_of(error)))


def no_scope():
    return tf.name_scope("")


class Looper(coordinator.LooperThread):
    """Each pass takes the time of the next operation, then does what it says; the last one stops the coordinator."""

    def __init__(self, coord, scenario, out):
        super().__init__(coord, scenario["args"].get("timer_interval_secs"))
        self.coord = coord
        self.args = scenario["args"]
        self.ops = list(scenario["ops"])
        self.out = out

    def log(self, what):
        self.out.append("%s at=%g" % (what, world.active.now - world.START))

    def does(self, argument):
        if argument in self.args:
            raise make_error(self.args[argument])

    def start_loop(self):
        self.log("start_loop")
        self.does("start_code")

    def run_loop(self):
        self.log("run_loop")
        op = self.ops.pop(0)
        world.active.now += op.get("secs", 0)
        if op.get("stop") or not self.ops:
            self.coord.request_stop()
        if "code" in op:
            raise make_error(op["code"])

    def stop_loop(self):
        self.log("stop_loop")
        self.does("stop_code")


def loop(scenario, out):
    """LooperThread: when its passes come."""

    def wait_for_stop(coord, timeout):
        if not coord.should_stop():
            world.active.now += max(0, timeout)
        return coord.should_stop()

    world.active.wait_for_stop = wait_for_stop
    coord = coordinator.Coordinator()
    Looper(coord, scenario, out).run()
    world.active.wait_for_stop = None
    try:
        coord.join()
        out.append("join ok")
    except Exception as error:
        out.append("join failed " + code_of(error))


PLAYERS = types.MappingProxyType({"device_setter": place, "looper": loop})
