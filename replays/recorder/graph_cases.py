"""The graphs that graphs.py records, by name: typical programs of TensorFlow 1, and ops one by one."""

import numpy as np

import player_path  # noqa: F401
from vigil_player.tensorflow_v1 import tf

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


@case
def random_numbers(play):
    """Each random op, some seeds and sizes, four runs of one session and one of another."""
    all_of = []
    for seed in [(0, 1), (87654321, 42), (2**31 - 2, 0)]:
        for shape in [[], [7], [0]]:
            for dtype in [tf.float32, tf.float64]:
                for op in [tf.raw_ops.RandomUniform, tf.raw_ops.RandomStandardNormal, tf.raw_ops.TruncatedNormal]:
                    all_of.append(op(shape=tf.constant(shape, tf.int32), dtype=dtype, seed=seed[0], seed2=seed[1]))
            for dtype, low, high in [(tf.int32, 0, 10), (tf.int64, -5, 2**40), (tf.int32, -2**31, 2**31 - 1)]:
                all_of.append(tf.raw_ops.RandomUniformInt(
                    shape=tf.constant(shape, tf.int64), minval=tf.constant(low, dtype), maxval=tf.constant(high, dtype),
                    seed=seed[0], seed2=seed[1]))
        for value in [np.arange(7), np.arange(12).reshape(4, 3), np.array([b"a", b"b", b"c"]), np.arange(1), np.float32(3)]:
            all_of.append(tf.raw_ops.RandomShuffle(value=tf.constant(value), seed=seed[0], seed2=seed[1]))
    many = tf.raw_ops.TruncatedNormal(shape=tf.constant([600]), dtype=tf.float32, seed=3, seed2=4)
    bad = tf.raw_ops.RandomUniformInt(shape=tf.constant([2]), minval=tf.constant(3), maxval=tf.constant(3), seed=1)
    play.export()
    for session in ["1", "1", "1", "2"]:
        play.run(all_of, session=session)
    play.run([many])
    play.run([bad])


@case
def random_seeds(play):
    """Which seeds the ops of a graph get: of the graph and of the op."""
    ops = []
    for graph_seed in [None, 7, 0, -1]:
        tf.set_random_seed(graph_seed) if graph_seed is not None else None
        for op_seed in [None, 5, 0, None, -3, 2**31 + 4]:
            if graph_seed is None and op_seed is None:
                continue
            ops.append(tf.random_uniform([2], seed=op_seed))
    play.export()
    play.run(ops)


def points(n=24, seed=1):
    """x and y = 3 x - 2 with noise."""
    random = np.random.RandomState(seed)
    x = random.uniform(-1, 1, [n, 1]).astype(np.float32)
    return x, (3 * x - 2 + random.normal(0, 0.1, [n, 1])).astype(np.float32)


def linear(x, y, optimizer, use_resource, initializer=None):
    """w x + b, its loss, and a train op that counts steps."""
    with tf.variable_scope("model", use_resource=use_resource):
        w = tf.get_variable("w", [1, 1], initializer=initializer or tf.glorot_uniform_initializer(seed=3))
        b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    prediction = tf.matmul(x, w) + b
    loss = tf.reduce_mean(tf.square(prediction - y), name="loss")
    step = tf.train.get_or_create_global_step()
    train = optimizer.minimize(loss, global_step=step)
    return w, b, loss, step, train


def train_20(play, fetches, init, train, feeds=None):
    """Initialises, then 20 steps, with everything that there is fetched after each."""
    ready = tf.report_uninitialized_variables()
    saver = tf.train.Saver()  # so that it is in the collections, as in any program
    tf.add_to_collection(tf.GraphKeys.SAVERS, saver)
    play.export(saver_def=saver.as_saver_def())
    play.run([ready])
    play.run(targets=[init])
    play.run([ready])
    for _ in range(20):
        play.run(targets=[train], feeds=feeds)
        play.run(fetches, feeds=feeds)


def linear_regression(play, use_resource):
    x_data, y_data = points()
    x = tf.placeholder(tf.float32, [None, 1], name="x")
    y = tf.placeholder(tf.float32, [None, 1], name="y")
    w, b, loss, step, train = linear(x, y, tf.train.GradientDescentOptimizer(0.2), use_resource)
    tf.summary.scalar("loss", loss)
    merged = tf.summary.merge_all()
    value = tf.identity(w, "w_now")
    train_20(play, [value, tf.identity(b, "b_now"), loss, tf.identity(step, "step_now")],
             tf.global_variables_initializer(), train, {x: x_data, y: y_data})
    play.run([merged], feeds={x: x_data, y: y_data})


@case
def linear_ref(play):
    """Linear regression with variables of TensorFlow 1, fed."""
    linear_regression(play, False)


@case
def linear_resource(play):
    """The same with resource variables."""
    linear_regression(play, True)


@case
def linear_cond(play):
    """The rate of learning depends on the step, by cond; the variables are resources; gradients are clipped if large."""
    x_data, y_data = points()
    x, y = tf.constant(x_data), tf.constant(y_data)
    step = tf.train.get_or_create_global_step()
    rate = tf.cond(step < 10, lambda: tf.constant(0.3), lambda: tf.constant(0.05) * tf.cast(step, tf.float32) / 10.0)
    w, b, loss, _, train = linear(x, y, tf.train.GradientDescentOptimizer(rate), True)
    penalty = tf.cond(loss > 0.5, lambda: tf.cond(w[0, 0] > 0, lambda: tf.identity(w), lambda: w * -1.0),
                      lambda: tf.zeros_like(w))
    train_20(play, [w.read_value(), b.read_value(), loss, rate, penalty], tf.global_variables_initializer(), train)


@case
def linear_schedule(play):
    """Ref variables, a learning rate that decays exponentially, an accumulated mean, L2 losses in a collection."""
    x_data, y_data = points(30, 2)
    x, y = tf.constant(x_data), tf.constant(y_data)
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.3, step, 5, 0.8, staircase=True)
    w, b, loss, _, train = linear(x, y, tf.train.GradientDescentOptimizer(rate), False, tf.ones_initializer())
    tf.add_to_collection(tf.GraphKeys.LOSSES, loss)
    tf.add_to_collection("train_op", train)
    average = tf.get_variable("average", [], initializer=tf.zeros_initializer(), trainable=False)
    with tf.control_dependencies([train]):
        mean = tf.assign_add(average, (loss - average) * 0.5)
    train_20(play, [tf.identity(w), tf.identity(b), rate, tf.identity(average)], tf.global_variables_initializer(),
             mean.op)


@case
def queue_pipeline(play):
    """A producer of epochs that are shuffled, a queue, batches: what string_input_producer and batch make, run by hand."""
    tf.set_random_seed(11)
    numbers = tf.constant(np.arange(10, dtype=np.int32))
    producer = tf.train.input_producer(numbers, num_epochs=3, shuffle=True, seed=5, capacity=30)
    one = producer.dequeue()
    batch_queue = tf.FIFOQueue(20, [tf.int32, tf.float32], shapes=[[], []], name="batch")
    enqueue = batch_queue.enqueue([one, tf.cast(one, tf.float32) * 0.5])
    batch = batch_queue.dequeue_many(4)
    rest = batch_queue.dequeue_up_to(4)
    size = batch_queue.size()
    closed = batch_queue.close()
    fill = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)[0].enqueue_ops[0]
    close = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)[0].close_op
    init = tf.group(tf.global_variables_initializer(), tf.local_variables_initializer())
    play.export()
    play.run(targets=[init])
    for _ in range(3):
        play.run(targets=[fill])
    play.run(targets=[fill])  # the epochs are over
    play.run(targets=[close])
    for k in range(18):
        play.run(targets=[enqueue])
    play.run([size])
    for k in range(4):
        play.run(batch)
    for k in range(4):
        play.run(targets=[enqueue])
    play.run([size])
    play.run(targets=[closed])
    for k in range(3):
        play.run(rest)


@case
def shuffled_queue(play):
    """A RandomShuffleQueue of tuples with seeds, filled and drained: its order."""
    queue = tf.RandomShuffleQueue(50, 5, [tf.int64, tf.string], shapes=[[], [2]], seed=9, name="shuffled")
    numbers = tf.placeholder(tf.int64, [None])
    words = tf.stack([tf.fill(tf.shape(numbers), "v"), tf.fill(tf.shape(numbers), "w")], axis=1)
    fill = queue.enqueue_many([numbers, words])
    one, three = queue.dequeue(), queue.dequeue_many(3)
    rest = queue.dequeue_up_to(4)
    size, close = queue.size(), queue.close()
    play.export()
    play.run(targets=[fill], feeds={numbers: np.arange(12)})
    for _ in range(2):
        play.run(list(one))
    play.run(list(three))
    play.run(targets=[fill], feeds={numbers: np.arange(100, 110)})
    play.run(list(three))
    play.run([size])
    play.run(targets=[close])
    for _ in range(5):
        play.run(list(rest))
    play.run(targets=[fill], feeds={numbers: np.arange(2)})


def train_from(play, make_iterator):
    """Linear regression from an iterator, until it ends."""
    x_data, y_data = points(10, 3)
    dataset = tf.data.Dataset.from_tensor_slices((x_data, y_data))
    iterator = make_iterator(dataset)
    x, y = iterator.get_next()
    w, b, loss, step, train = linear(x, y, tf.train.GradientDescentOptimizer(0.2), True)
    values = [w.read_value(), b.read_value()]
    init = [tf.global_variables_initializer()]
    if iterator._initializer is not None:
        init.append(iterator.initializer)
    play.export()
    play.run(targets=init)
    for _ in range(21):
        play.run([x, loss], targets=[train])
    play.run(values)


@case
def iterator_batches(play):
    train_from(play, lambda data: tf.data.make_initializable_iterator(data.repeat(6).batch(3).prefetch(1)))


@case
def iterator_shuffled(play):
    """Shuffled anew in each epoch, by seeds of the graph and of the op."""
    tf.set_random_seed(4)
    train_from(play, lambda data: tf.data.make_initializable_iterator(
        data.shuffle(4, seed=8).repeat().batch(3, drop_remainder=True)))


@case
def iterator_one_shot(play):
    """A dataset that is a function."""
    get = tf.data.make_one_shot_iterator(tf.data.Dataset.range(5).shuffle(10, seed=1).repeat(2)).get_next()
    play.export()
    for _ in range(11):
        play.run([get])


@case
def iterator_range(play):
    """Ranges, as they are, repeated, shuffled without reshuffling."""
    gets, inits = [], []
    for data in [tf.data.Dataset.range(5), tf.data.Dataset.range(3, 9, 2).repeat(2),
                 tf.data.Dataset.range(8).shuffle(3, seed=7, reshuffle_each_iteration=False).repeat(2),
                 tf.data.Dataset.range(8).shuffle(100, seed=7).repeat(2),
                 tf.data.Dataset.range(7).batch(3).repeat(2), tf.data.Dataset.range(7).batch(3, drop_remainder=True)]:
        iterator = tf.data.make_initializable_iterator(data)
        gets.append(iterator.get_next())
        inits.append(iterator.initializer)
    play.export()
    play.run([gets[0]])  # it has no dataset yet
    play.run(targets=inits)
    for _ in range(18):
        for get in gets:
            play.run([get])
    play.run(targets=inits)
    for _ in range(9):
        play.run([gets[2]])
        play.run([gets[3]])


@case
def slices(play):
    """StridedSlice with every kind of mask, in and out of range."""
    x = tf.constant(np.arange(60).reshape(3, 4, 5))
    words = tf.constant([["a", "b", "c"], ["d", "e", "f"]])
    good = [x[0], x[-1], x[1:], x[:-1], x[::-1], x[:, 1:3], x[..., 2], x[..., ::2, tf.newaxis], x[tf.newaxis, 1, ..., -1],
            x[5:], x[-9:2], x[2:0:-1, ::-2, 1], x[:, :, 7:9], x[1:1], words[:, 1], words[::-1, ::2],
            x[tf.constant(1):tf.constant(3)]]
    index = tf.placeholder(tf.int32, [])
    bad = x[index]
    step = x[::index]
    play.export()
    play.run(good)
    play.run([bad], feeds={index: 2})
    play.run([bad], feeds={index: 3})
    play.run([bad], feeds={index: -4})
    play.run([step], feeds={index: 0})
    play.run([step], feeds={index: -2})


@case
def resource_ops(play):
    """What is done to resource variables: read, add, rows taken, added, replaced; without a value, out of range."""
    v = tf.get_variable("v", initializer=np.arange(6, dtype=np.float32).reshape(3, 2), use_resource=True)
    n = tf.get_variable("n", initializer=np.int64(2**62), use_resource=True)
    rows = tf.placeholder(tf.int32, [None])
    updates = tf.placeholder(tf.float32, None)
    ops = {
        "add": tf.raw_ops.ResourceScatterAdd(resource=v.handle, indices=rows, updates=updates),
        "sub": tf.raw_ops.ResourceScatterSub(resource=v.handle, indices=rows, updates=updates),
        "set": tf.raw_ops.ResourceScatterUpdate(resource=v.handle, indices=rows, updates=updates),
        "plus": tf.raw_ops.AssignAddVariableOp(resource=v.handle, value=updates),
        "minus": tf.raw_ops.AssignSubVariableOp(resource=v.handle, value=updates),
        "descend": tf.raw_ops.ResourceApplyGradientDescent(var=v.handle, alpha=0.5, delta=updates),
        "wrap": tf.raw_ops.AssignAddVariableOp(resource=n.handle, value=np.int64(2**62)),
        "gone": tf.raw_ops.DestroyResourceOp(resource=v.handle),
        "must_be": tf.raw_ops.DestroyResourceOp(resource=v.handle, ignore_lookup_error=False),
    }
    gathered = tf.raw_ops.ResourceGather(resource=v.handle, indices=rows, dtype=tf.float32)
    value, there = v.read_value(), tf.raw_ops.VarIsInitializedOp(resource=v.handle)
    shape = tf.raw_ops.VariableShape(input=v.handle)
    count = n.read_value()
    init = tf.global_variables_initializer()
    play.export()
    play.run([there])
    play.run([value])
    play.run([gathered], feeds={rows: [0]})
    play.run(targets=[ops["plus"]], feeds={updates: np.ones([3, 2])})
    play.run(targets=[init])
    play.run([there, value, shape, count])
    play.run(targets=[ops["wrap"]])
    play.run([count])
    for name, at, by in [("add", [0, 0, 2], np.ones([3, 2])), ("sub", [1], [[0.5, 0.25]]), ("set", [2, 1], 7.0),
                         ("set", [0], [[1, 2]]), ("add", [3], [[1, 1]]), ("add", [], 1.0)]:
        play.run(targets=[ops[name]], feeds={rows: at, updates: by})
        play.run([value])
    for name, by in [("plus", np.ones([3, 2])), ("minus", np.full([3, 2], 0.5)), ("plus", np.ones([2])),
                     ("descend", np.ones([3, 2])), ("descend", np.ones([2, 2]))]:
        play.run(targets=[ops[name]], feeds={updates: by})
        play.run([value])
    play.run([gathered], feeds={rows: [2, 0, 2]})
    play.run([gathered], feeds={rows: [3]})
    play.run(targets=[ops["gone"]])
    play.run([there])
    play.run(targets=[ops["gone"]])
    play.run(targets=[ops["must_be"]])


@case
def branches(play):
    """Switch and Merge by cond: nested, of refs, with effects in a branch; what is dead and fetched."""
    yes, number = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [])
    v = tf.Variable(1.0, use_resource=False)
    r = tf.Variable(10.0, use_resource=True)
    value = tf.cond(yes, lambda: number + 1, lambda: number * 2)
    nested = tf.cond(yes, lambda: tf.cond(number > 3, lambda: tf.constant(1), lambda: tf.constant(2)),
                     lambda: tf.constant(3))
    effect = tf.cond(yes, lambda: tf.group(tf.assign_add(v, number)), lambda: tf.group(r.assign_add(number)))
    read = tf.cond(yes, lambda: tf.identity(v), lambda: r.read_value())
    initialized = tf.cond(tf.is_variable_initialized(v), lambda: tf.identity(v), lambda: tf.constant(-1.0))
    gradient = tf.gradients(tf.cond(yes, lambda: number * number, lambda: number * 5), number)
    no, taken = tf.raw_ops.Switch(data=number, pred=yes)
    merged = tf.raw_ops.Merge(inputs=[no * 2, taken * 3])
    after = [tf.identity(taken, "after")]
    init = tf.global_variables_initializer()
    play.export()
    play.run([initialized])
    play.run(targets=[init])
    for y, x in [(True, 4.0), (False, 2.0), (True, 1.0)]:
        feeds = {yes: y, number: x}
        play.run([value, nested, read, merged.output, merged.value_index], feeds=feeds)
        play.run(gradient, feeds=feeds)
        play.run(targets=[effect.op], feeds=feeds)
        play.run([read, initialized], feeds=feeds)
        play.run([taken], feeds=feeds)
        play.run(after, feeds=feeds)
        play.run([no], feeds=feeds)


@case
def refused(play):
    """What cannot be run here: loops, calls of functions, queues that pad, ops that nobody knows."""
    i = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
    tf.PaddingFIFOQueue(3, [tf.float32], [[None]], name="padding").size()
    tf.raw_ops.Betainc(a=tf.constant([1.0]), b=tf.constant([1.0]), x=tf.constant([0.5]), name="beta")
    tf.raw_ops.Roll(input=tf.zeros([3]), shift=1, axis=0, name="roll")
    tf.raw_ops.Roll(input=tf.zeros([3]), shift=1, axis=0, name="roll_again")

    @tf.function
    def square(x):
        return x * x

    square(tf.constant(2.0))
    play.export()
    play.run([i])


def example_row(number, x, y, tags):
    """An Example with the features that parsed_examples wants; y and the tags may be missing."""
    features = {"x": tf.train.Feature(float_list=tf.train.FloatList(value=[float(x), float(x) ** 2]))}
    if number % 4:
        features["y"] = tf.train.Feature(float_list=tf.train.FloatList(value=[float(y)]))
    if tags:
        features["tags"] = tf.train.Feature(int64_list=tf.train.Int64List(value=tags))
        features["words"] = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"w%d" % tag for tag in tags]))
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


@case
def parsed_examples(play):
    """Rows of serialized Examples, in batches: dense and sparse features, defaults, open dimensions; trained from."""
    x_data, y_data = points(10, 5)
    rows = [example_row(i, x, y, list(range(i % 3))) for i, (x, y) in enumerate(zip(x_data[:, 0], y_data[:, 0]))]
    data = tf.data.Dataset.from_tensor_slices(rows).repeat(6).batch(3)
    iterator = tf.data.make_initializable_iterator(data)
    serialized = iterator.get_next()
    parsed = tf.parse_example(serialized, {
        "x": tf.FixedLenFeature([2], tf.float32),
        "y": tf.FixedLenFeature([1], tf.float32, default_value=[-2.0]),
        "tags": tf.VarLenFeature(tf.int64),
        "words": tf.FixedLenSequenceFeature([], tf.string, allow_missing=True, default_value="none"),
    })
    one = tf.parse_single_example(serialized[0], {
        "x": tf.FixedLenFeature([2], tf.float32), "tags": tf.VarLenFeature(tf.int64),
        "words": tf.VarLenFeature(tf.string)})
    w, b, loss, step, train = linear(parsed["x"][:, :1], parsed["y"], tf.train.GradientDescentOptimizer(0.2), True)
    sparse = [part for each in (parsed["tags"], one["tags"], one["words"]) for part in (each.indices, each.values, each.dense_shape)]
    values = [w.read_value(), b.read_value()]
    init = [tf.global_variables_initializer(), iterator.initializer]
    play.export()
    play.run(targets=init)
    for _ in range(21):
        play.run([parsed["x"], parsed["y"], parsed["words"], one["x"], *sparse, loss], targets=[train])
    play.run(values)


@case
def parsed_csv(play):
    """Records of CSV, from a dataset and fed, some of which are none."""
    x_data, y_data = points(10, 6)
    rows = [f"{x:.4f},\"row {i}\",{y if i % 4 else 'NA'}" for i, (x, y) in enumerate(zip(x_data[:, 0], y_data[:, 0]))]
    iterator = tf.data.make_initializable_iterator(tf.data.Dataset.from_tensor_slices(rows).repeat(6).batch(3))
    x, name, y = tf.decode_csv(iterator.get_next(), [[0.0], [""], [-2.0]], na_value="NA")
    _, _, loss, _, train = linear(tf.expand_dims(x, 1), tf.expand_dims(y, 1), tf.train.GradientDescentOptimizer(0.2), True)
    fed = tf.placeholder(tf.string, [None])
    columns = tf.decode_csv(fed, [tf.constant([], tf.int64), tf.constant(["none"])], field_delim=";", select_cols=[0, 2])
    init = [tf.global_variables_initializer(), iterator.initializer]
    play.export()
    play.run(targets=init)
    for _ in range(21):
        play.run([x, name, y, loss], targets=[train])
    for records in (["1;x;a", "2;;"], ["1;x;a", ";x;b"], ["1.5;x;a"], ["1;\"x;a"], []):
        play.run(columns, feeds={fed: records})
