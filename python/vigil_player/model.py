"""The small graph that every recorded session runs. The scenario's `model` decides what it has."""

from .recorded import kind_of_call
from .tensorflow_v1 import session_module, tf, training_util

_server = []


def server():
    """The address of the server whose variables all sessions of a scenario with `shared_state` share."""
    if not _server:
        _server.append(tf.train.Server.create_local_server())
    return _server[0].target


def new_server_state():
    session_module.Session.reset(server())
    return server()


class Model:
    """A global step, a train op, a feedable value; on request an input, a loss that becomes NaN and more variables."""

    def __init__(self, spec, falling=False):
        """`falling`: the loss is 1/step, from the fourth step on 1/4."""
        self.falling = falling
        self.graph = tf.Graph()
        self.scaffold = None
        self.session = None  # the last raw session
        self.final = []  # what each FinalOpsHook fetches
        with self.graph.as_default(), tf.device(spec.get("device")):
            self.global_step = tf.train.get_or_create_global_step() if spec.get("global_step", True) else None
            before_train = self.input(spec)
            if spec.get("local_variable"):
                tf.Variable(1, trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="local")
            self.base = None
            if spec.get("fed_variable"):
                self.base_value = tf.placeholder(tf.int64, [], name="base_value")
                self.base = tf.Variable(self.base_value, trainable=False, name="base")
            self.feed_me = tf.placeholder_with_default(0, [], name="feed_me")
            self.fed = tf.identity(self.feed_me, name="fed")
            if self.global_step is None:
                self.read = None
                with tf.control_dependencies(before_train):
                    self.train = tf.constant(0, tf.int64, name="train")
                self.loss = tf.constant(0.5)
            else:
                self.training(spec, before_train)

    def input(self, spec):
        """What every train op consumes a batch of: its get_next, if there is an input."""
        batches = spec.get("batches")
        if batches is None:
            return []
        if spec.get("input", "range") == "range":
            return [tf.data.make_one_shot_iterator(tf.data.Dataset.range(batches)).get_next()]
        dequeue = tf.train.range_input_producer(batches, num_epochs=1, shuffle=False).dequeue()
        del self.graph.get_collection_ref(tf.GraphKeys.SUMMARIES)[:]  # its fill level depends on the timing of threads
        return [dequeue]

    def training(self, spec, before_train):
        self.read = training_util._get_or_create_global_step_read()
        # A loss that falls is that of the step which a run makes, and evaluating it alone trains nothing.
        steps = spec.get("steps_per_run", 1)
        coming = self.read + steps if self.falling else None
        with tf.control_dependencies(before_train + [self.read if coming is None else coming]):
            self.train = tf.assign_add(self.global_step, steps, name="train")
        made = self.train if coming is None else coming
        self.loss = tf.constant(0.5)
        if "nan_at" in spec:
            self.loss = tf.where(made >= spec["nan_at"], tf.constant(float("nan")), tf.constant(0.5))
        elif self.falling:
            self.loss = tf.where(made >= 4, tf.constant(0.25), 1 / tf.cast(made, tf.float32))
        if spec.get("summary"):
            tf.summary.scalar("loss", self.loss)
        self.bump = tf.placeholder(tf.int64, [])
        self.bump_op = tf.assign_add(self.global_step, self.bump)
        self.set_op = tf.assign(self.global_step, self.bump)

    def advance(self, steps):
        """Other workers have added `steps`."""
        self.session.quiet = True
        try:
            self.session.run(self.bump_op, {self.bump: steps})
        finally:
            self.session.quiet = False

    def chief_init(self, step):
        """The chief initialises the shared state."""
        with session_module.Session(server(), graph=self.graph) as session:
            session.run(self.scaffold.init_op)
            session.run(self.set_op, {self.bump: step})

    def named(self, what):
        return {"step": self.read, "fed": self.fed, "train": self.train, "loss": self.loss, "base": self.base,
                "train_op": self.train.op, "missing": "missing:0"}[what]

    def fetches(self, fetch):
        """A scenario's nested fetch, with tensors for names."""
        if isinstance(fetch, dict):
            return {key: self.fetches(item) for key, item in fetch.items()}
        if isinstance(fetch, list):
            return [self.fetches(item) for item in fetch]
        return self.named(fetch)

    def savers(self):
        return []

    def steps(self):
        return [self.read, self.global_step]

    def finals(self):
        return self.final

    def kind_of(self, fetches):
        """What a run on the raw session is for."""
        if isinstance(fetches, list) and len(fetches) == 2 and fetches[1] is self.global_step:
            return "summary"
        return kind_of_call(fetches, self)
