"""Hooks that are wrong in known ways, and right ones: what `vigil-verify` must find, and what it must not."""

import contextlib
import threading
import time

import tensorflow.compat.v1 as tf

Hook = tf.train.SessionRunHook
Args = tf.train.SessionRunArgs

WRONG = {}
RIGHT = {}


def wrong(promise, **leave):
    def add(maker):
        WRONG[maker.__name__] = (maker, promise, leave)
        return maker

    return add


def right(**leave):
    def add(maker):
        RIGHT[maker.__name__] = (maker, leave)
        return maker

    return add


class OfStep(Hook):
    """Sees the global step of each run, before the train op."""

    def begin(self):
        self.step = tf.train.get_global_step()

    def before_run(self, context):
        return Args(self.step)


@wrong("hook.before_run_not_idempotent")
class CountsBeforeRuns(Hook):
    def begin(self):
        self.runs = 0

    def before_run(self, context):
        self.runs += 1

    def after_run(self, context, values):
        if self.runs >= 5:
            context.request_stop()


@wrong("hook.state_survives_session")
class NeverStartsAnew(Hook):
    runs = 0

    def after_run(self, context, values):
        self.runs += 1
        if self.runs >= 5:
            context.request_stop()


@wrong("hook.wrong_after_recovery")
class CountsInSession(Hook):
    def after_create_session(self, session, coord):
        self.runs = 0

    def after_run(self, context, values):
        self.runs += 1
        if self.runs >= 5:
            context.request_stop()


@wrong("hook.stop_lost_in_recovery")
class AsksOnce(OfStep):
    def begin(self):
        super().begin()
        self.asked = False

    def after_run(self, context, values):
        if values.results >= 4 and not self.asked:
            self.asked = True
            context.request_stop()


@wrong("hook.misses_skipped_steps")
class ComparesForEquality(OfStep):
    def after_run(self, context, values):
        if values.results == 4:
            context.request_stop()


@wrong("hook.keeps_old_session")
class KeepsItsFirstSession(OfStep):
    def begin(self):
        super().begin()
        self.session = None

    def after_create_session(self, session, coord):
        self.session = self.session or session

    def after_run(self, context, values):
        if values.results == 8:
            self.session.run(self.step)


@wrong("hook.acts_after_end")
class RunsAfterItsEnd(OfStep):
    def begin(self):
        super().begin()
        self.ended = None

    def end(self, session):
        if self.ended is not None:
            self.ended.run(self.step)
        self.ended = session


@wrong("hook.keeps_run_context")
class KeepsAContext(Hook):
    def begin(self):
        self.context = None

    def after_run(self, context, values):
        if self.context is not None:
            self.context.request_stop()
        self.context = context


@wrong("hook.runs_train_op")
def trains_by_itself(w):
    class TrainsByItself(Hook):
        def after_run(self, context, values):
            context.session.run(w.train_op)

    return TrainsByItself()


@wrong("hook.closes_session")
class ClosesTheSession(OfStep):
    def after_run(self, context, values):
        if values.results == 3:
            context.session.close()


@wrong("hook.requests_stop", may_request_stop=False)
class StopsWithoutLeave(OfStep):
    def after_run(self, context, values):
        if values.results >= 3:
            context.request_stop()


@wrong("hook.feeds_collide")
def feeds_what_the_caller_feeds(w):
    class Feeds(Hook):
        def before_run(self, context):
            return Args(None, feed_dict={w.feedable: 3})

    return Feeds()


@wrong("hook.thread_outlives_session")
class LeavesAThread(Hook):
    def after_create_session(self, session, coord):
        threading.Thread(target=threading.Event().wait, daemon=True, name="left").start()


@wrong("hook.blocks")
class Waits(OfStep):
    def after_run(self, context, values):
        if values.results == 3:
            time.sleep(70)


@wrong("hook.fails_by_itself")
class Fails(OfStep):
    def after_run(self, context, values):
        if values.results == 3:
            raise ValueError("three")


@wrong("hook.end_needs_session")
class RunsInItsEnd(OfStep):
    def end(self, session):
        session.run(self.step)


@wrong("hook.changes_graph_late")
class MakesNodesLate(Hook):
    def after_create_session(self, session, coord):
        with session.graph.as_default():
            tf.constant(1, name="late")


@wrong("hook.not_repeatable")
class DependsOnWhatWasBefore(OfStep):
    plays = 0

    def begin(self):
        super().begin()
        DependsOnWhatWasBefore.plays += 1

    def after_run(self, context, values):
        if values.results >= 2 + DependsOnWhatWasBefore.plays % 3:
            context.request_stop()


@wrong("hook.wrong_after_recovery")
class BestIsForgotten(Hook):
    """Early stopping whose memory is the session's."""

    def begin(self):
        self.step = tf.train.get_global_step()

    def after_create_session(self, session, coord):
        self.first = None

    def before_run(self, context):
        return Args(self.step)

    def after_run(self, context, values):
        self.first = values.results if self.first is None else self.first
        if values.results - self.first >= 4:
            context.request_stop()


@wrong("hook.fails_by_itself")
class TakesAResultForGranted(OfStep):
    """Its fetch is a list, which it takes for a number."""

    def before_run(self, context):
        return Args([self.step])

    def after_run(self, context, values):
        if values.results > 3:
            context.request_stop()


@right()
class DoesNothing(Hook):
    pass


@right()
class StopsAtAStep(OfStep):
    def after_run(self, context, values):
        if values.results >= 4:
            context.request_stop()


@right()
class CountsAfterRuns(Hook):
    def begin(self):
        self.runs = 0

    def after_run(self, context, values):
        self.runs += 1


@right()
class EndsCarefully(OfStep):
    def end(self, session):
        if session is not None:
            session.run(self.step)


@right(may_feed=True)
def feeds_with_leave(w):
    class Feeds(Hook):
        def before_run(self, context):
            known = context.original_args.feed_dict or {}
            return None if any(key is w.feedable for key in known) else Args(None, feed_dict={w.feedable: 3})

    return Feeds()


@right()
class TimesRuns(Hook):
    def before_run(self, context):
        self.start = time.time()

    def after_run(self, context, values):
        assert time.time() >= self.start


@right()
class EndsItsThread(Hook):
    def after_create_session(self, session, coord):
        thread = threading.Thread(target=lambda: coord.wait_for_stop(), daemon=True)
        coord.register_thread(thread)
        thread.start()


@right(may_fail=True)
class FailsWithLeave(OfStep):
    def after_run(self, context, values):
        if values.results == 3:
            raise ValueError("three")


@right()
class TellsOfTheFirstOfTwoErrors(OfStep):
    def begin(self):
        super().begin()
        self.unfed = tf.placeholder(tf.int32, name="unfed")
        self.unset = tf.Variable(1, trainable=False, collections=[], name="unset")

    def after_run(self, context, values):
        try:
            context.session.run(self.unfed)
        except tf.errors.InvalidArgumentError as first:
            with contextlib.suppress(tf.errors.FailedPreconditionError):
                context.session.run(self.unset)
            raise first


@right()
def stops_at_step_of_tensorflow(w):
    return tf.train.StopAtStepHook(last_step=4)


@right(may_fail=True)
def nan_of_tensorflow(w):
    return tf.train.NanTensorHook(w.loss)


@right()
def logging_of_tensorflow(w):
    return tf.train.LoggingTensorHook({"loss": w.loss}, every_n_iter=2)


@right(may_need_session=True)  # its last save does
def saver_of_tensorflow(w):
    return tf.train.CheckpointSaverHook(w.directory, save_steps=2, scaffold=w.scaffold)


@right(may_need_session=True)
def logging_at_end_of_tensorflow(w):
    return tf.train.LoggingTensorHook({"loss": w.loss}, at_end=True)  # evaluating the loss alone is no training


@right()
def evaluates_in_a_session_of_its_own(w):
    class Evaluates(OfStep):
        def after_run(self, context, values):
            with tf.Graph().as_default():
                tf.train.get_or_create_global_step()
                with tf.train.MonitoredSession(hooks=[DoesNothing()]) as session:
                    session.run(tf.train.get_global_step())

    return Evaluates()


@right()
def summary_writer_of_the_cache(w):
    class Writes(OfStep):
        def after_create_session(self, session, coord):
            self.writer = tf.summary.FileWriterCache.get(w.directory)

        def end(self, session):
            self.writer.flush()

    return Writes()
