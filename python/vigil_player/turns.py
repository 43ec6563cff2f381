"""Threads that take turns on the virtual clock. Needs no TensorFlow.

One runs at a time, as the tasks of a simulated process do: who has been ready longest goes next, and time passes only
when all of them wait. So what several threads of a scenario do is the same in every recording.
"""

import collections
import heapq
import itertools
import threading


class Turn:
    """A thread's place among the others. `name` is who its events are of; empty: the driver."""

    def __init__(self, name, thread):
        self.name = name
        self.thread = thread
        self.may_run = threading.Semaphore(0)
        self.waiters = None  # the list that it waits in
        self.woken = False


class Turns:
    """The thread that makes this is the driver. `world` has the clock."""

    def __init__(self, world):
        self.world = world
        self.current = Turn("", threading.current_thread())
        self.ready = collections.deque()
        self.timers = []  # (when, in which order they were set, whose)
        self.order = itertools.count()
        self.others = []  # threads that have not ended, but for the driver
        self.joiners = []
        self.stop_waiters = []
        self.over = False

    def speaker(self):
        """Whose events the calling thread's are; None: nobody's."""
        return self.current.name if self.current.thread is threading.current_thread() else None

    def spawn(self, name, thread):
        """Before the thread is started. It must call `enter` first and `leave` last."""
        turn = Turn(name, thread)
        self.others.append(turn)
        self.ready.append(turn)
        return turn

    def enter(self, turn):
        """Waits for the first turn. False: there will be none."""
        turn.may_run.acquire()
        return not self.over

    def leave(self, turn):
        self.others.remove(turn)
        if self.over:
            return
        if not self.others:
            self.wake_all(self.joiners)
        self.current = self.pick()
        self.current.may_run.release()

    def wait(self, until=None, waiters=None):
        """Others run until the time has come or somebody wakes those that wait in the list: then it says True."""
        if self.over:
            return True
        me = self.current
        me.woken = False
        if until is not None and until <= self.world.now:
            self.ready.append(me)
        else:
            me.waiters = waiters
            if waiters is not None:
                waiters.append(me)
            if until is not None:
                heapq.heappush(self.timers, (until, next(self.order), me))
        chosen = self.pick()
        if chosen is not me:
            self.current = chosen
            chosen.may_run.release()
            me.may_run.acquire()
        return me.woken or self.over

    def sleep(self, secs):
        self.wait(self.world.now + secs)

    def join(self, secs):
        """Waits for all the others to end, at most that long."""
        if self.others:
            self.wait(self.world.now + secs, self.joiners)

    def wait_for_stop(self, coordinator, timeout):
        if not coordinator.should_stop():
            self.wait(None if timeout is None else self.world.now + timeout, self.stop_waiters)
        return coordinator.should_stop() or self.over

    def wake_all(self, waiters):
        for turn in list(waiters):
            self.timers = [timer for timer in self.timers if timer[2] is not turn]
            heapq.heapify(self.timers)
            turn.woken = True
            self.make_ready(turn)

    def make_ready(self, turn):
        if turn.waiters is not None:
            turn.waiters.remove(turn)
            turn.waiters = None
        self.ready.append(turn)

    def pick(self):
        while not self.ready:
            self.world.now = max(self.world.now, self.timers[0][0])
            while self.timers and self.timers[0][0] <= self.world.now:
                self.make_ready(heapq.heappop(self.timers)[2])
        return self.ready.popleft()

    def end(self):
        """The driver has ended: so do the others, without another event."""
        self.over = True
        for turn in list(self.others):
            turn.may_run.release()
            turn.thread.join()
