#!/usr/bin/env python3
"""Records what clusters of real TensorFlow processes do under faults: killed, stopped and cut off for real, on loopback.

  cluster.py record SCENARIOS PLAYS [--repeats N] [--only ID]...   plays them and appends a line a play to PLAYS
  cluster.py merge SCENARIOS PLAYS... OUT [--keep]                 the scenarios, expecting what their plays had in common;
                                                                   --keep: and each play, with how long processes took
                                                                   to start
  cluster.py widen RECORDED PLAYS... OUT                           recorded ones, expecting what further plays showed, too

SCENARIOS: .jsonl in the format of replays/cluster. A play takes up to the scenario's limit_s and real time: nothing else should
run on the machine, since processes that start late are a fault of their own.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from cluster_facts import boots, kept, merge, task_facts, widen
from cluster_link import Link, free_port

TASK_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cluster_task.py")
OPEN_WITHIN_S = 60


def parse_task(name):
    job, index = name.split(":")
    return job, int(index)


def task_name(task):
    return f"{task[0]}:{task[1]}"


class Play:
    """One play of a scenario: its processes, the relays between those that will be cut, and what they printed."""

    def __init__(self, scenario):
        self.scenario = scenario
        self.tasks = [(job, index) for job, count in scenario["cluster"]["tasks"].items() for index in range(count)]
        self.ports = {task: free_port() for task in self.tasks}
        self.folder = tempfile.mkdtemp(prefix="cluster_")
        self.begin = time.time()
        self.processes = {}
        self.events = {task: [] for task in self.tasks}
        self.links = {}
        for step in scenario["plan"]:
            for ends in (step.get("cut"), step.get("silent")):
                if ends:
                    a, b = (parse_task(name) for name in ends)
                    self.links.setdefault((a, b), Link(self.ports[b]))
                    self.links.setdefault((b, a), Link(self.ports[a]))

    def addresses(self, of):
        """The cluster as this task sees it: through a relay where there is one."""
        seen = {}
        for task in self.tasks:
            port = self.links[of, task].port if (of, task) in self.links else self.ports[task]
            seen.setdefault(task[0], []).append(f"127.0.0.1:{port}")
        return seen

    def note(self, task, event):
        self.events[task].append({"t": round(time.time() - self.begin, 2), "ev": event})

    def start(self, task):
        workload = dict(self.scenario.get("workload", {}))
        own = workload.pop("tasks", {}).get(task_name(task), {})
        config = {**workload, **own, "job": task[0], "task": task[1], "cluster": self.addresses(task),
                  "dir": os.path.join(self.folder, "ckpt"), "begin": self.begin}
        self.note(task, "start")
        with open(self.words_of(task), "a", encoding="utf-8") as words:
            process = subprocess.Popen([sys.executable, TASK_PROGRAM, json.dumps(config)], stdout=subprocess.PIPE,
                                       stderr=words, text=True, start_new_session=True)
        self.processes[task] = process

        def read():
            for line in process.stdout:
                try:
                    self.events[task].append(json.loads(line))
                except ValueError:  # a line of a killed process that is cut short
                    pass

        threading.Thread(target=read, daemon=True).start()

    def words_of(self, task):
        return os.path.join(self.folder, f"{task[0]}_{task[1]}.stderr")

    def check_started(self):
        """A program that cannot even start (no TensorFlow, say) must not pass for a fact about clusters."""
        for task, process in self.processes.items():
            if process.poll() not in (None, 0) and not self.events[task][1:]:
                with open(self.words_of(task), encoding="utf-8") as words:
                    raise SystemExit(f"{task_name(task)} ended with {process.returncode}:\n{words.read()[-2000:]}")

    def kill(self, task):
        self.processes[task].kill()
        self.note(task, "killed")

    def running(self, task):
        return task in self.processes and self.processes[task].poll() is None

    def has_opened(self, task):
        return any(event["ev"] == "open" for event in self.events[task])

    def start_all(self):
        """Servers and the chief first, the workers once the chief has a session; returns when every trainer has one."""
        late = {parse_task(step["start"]) for step in self.scenario["plan"] if "start" in step}
        at_once = self.scenario.get("no_wait", False)
        workers = [task for task in self.tasks if task[0] == "worker" and task not in late]
        for task in self.tasks:
            if task not in late and (at_once or task[0] != "worker"):
                self.start(task)
        if at_once:
            return
        wait_until(lambda: self.has_opened(("chief", 0)) or not self.running(("chief", 0)), OPEN_WITHIN_S)
        self.check_started()
        for task in workers:
            self.start(task)
        wait_until(lambda: all(self.has_opened(task) for task in workers), OPEN_WITHIN_S)

    def actions(self):
        """The plan as (seconds, what to do), in order."""
        todo = []
        for step in self.scenario["plan"]:
            at = step.get("at_s", 0)
            if "start" in step:
                todo.append((at, self.start, (parse_task(step["start"]),)))
            if "crash" in step:
                task = parse_task(step["crash"])
                todo.append((at, self.kill, (task,)))
                if "restart_after_s" in step:
                    todo.append((at + step["restart_after_s"], self.start, (task,)))
            if "pause" in step:
                task = parse_task(step["pause"])
                todo.append((at, self.signal, (task, signal.SIGSTOP)))
                todo.append((at + step["for_s"], self.signal, (task, signal.SIGCONT)))
            for mode in ("cut", "silent"):
                if mode in step:
                    a, b = (parse_task(name) for name in step[mode])
                    for link in (self.links[a, b], self.links[b, a]):
                        todo.append((at, link.set, (mode,)))
                        todo.append((at + step["for_s"], link.set, ("open",)))
        return sorted(todo, key=lambda action: action[0])

    def signal(self, task, number):
        os.kill(self.processes[task].pid, number)

    def run(self):
        """Returns the facts of each trainer and the step of the newest checkpoint."""
        self.start_all()
        self.check_started()
        base = time.time()
        limit = base + self.scenario["limit_s"]
        for at, action, arguments in self.actions():
            time.sleep(max(0, base + at - time.time()))
            action(*arguments)
        trainers = [task for task in self.tasks if task[0] != "ps"]
        wait_until(lambda: not any(self.running(task) for task in trainers), limit - time.time())
        time.sleep(0.3)  # what they printed last is read
        alive = {task for task in self.tasks if self.running(task)}
        seen = {task: list(events) for task, events in self.events.items()}
        self.end()
        facts = {task_name(task): task_facts(seen[task], task in alive) for task in trainers}
        newest = newest_step(os.path.join(self.folder, "ckpt"))
        shutil.rmtree(self.folder, ignore_errors=True)
        events = {task_name(task): seen[task] for task in self.tasks}
        return {"id": self.scenario["id"], "tasks": facts, "newest": newest, "events": events}

    def end(self):
        for process in self.processes.values():
            process.kill()
            process.wait()


def wait_until(condition, seconds):
    end = time.time() + seconds
    while time.time() < end and not condition():
        time.sleep(0.02)


def newest_step(folder):
    if not os.path.isdir(folder):
        return None
    steps = [int(name.split("-")[1].split(".")[0]) for name in os.listdir(folder) if name.endswith(".index")]
    return max(steps, default=None)


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def record(options):
    scenarios = [s for s in read(options.scenarios) if not options.only or s["id"] in options.only]
    with open(options.plays, "a", encoding="utf-8") as out:
        for number in range(options.repeats):
            for scenario in scenarios:
                play = Play(scenario)
                try:
                    result = play.run()
                finally:
                    play.end()
                out.write(json.dumps(result) + "\n")
                out.flush()
                print(f"play {number + 1}: {scenario['id']}", file=sys.stderr)


def write_merged(options):
    plays = [play for path in options.plays for play in read(path)]
    with open(options.out, "w", encoding="utf-8") as out:
        for scenario in read(options.scenarios):
            own = [play for play in plays if play["id"] == scenario["id"]]
            if own:
                expect = merge(own)
                if options.command == "widen":
                    expect = widen(scenario["expect"], expect)
                if options.keep:
                    expect["plays"] = [kept(play) for play in own]
                    if measured := boots(own):
                        scenario["workload"] = {**scenario.get("workload", {}), "boots_s": measured}
                scenario = {**scenario, "expect": expect}
            elif options.command == "merge":
                continue  # never played: nothing to expect
            out.write(json.dumps(scenario) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("scenarios")
    recording.add_argument("plays")
    recording.add_argument("--repeats", type=int, default=6)
    recording.add_argument("--only", action="append", default=[])
    for name in ("merge", "widen"):
        merging = commands.add_parser(name)
        merging.add_argument("scenarios")
        merging.add_argument("plays", nargs="+")
        merging.add_argument("out")
        merging.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    if options.command == "record":
        record(options)
    else:
        write_merged(options)


if __name__ == "__main__":
    main()
