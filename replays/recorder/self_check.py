#!/usr/bin/env python3
"""Checks the recorder: what needs no TensorFlow, and, if there is one, that it still records what the files expect."""

import importlib.util
import json
import os
import threading
import types
import unittest

import cases
import cluster_facts
import durations
import generate
import generate_pairs
import main
import player_path  # noqa: F401
from vigil_player import text, world

HERE = os.path.dirname(os.path.abspath(__file__))


def no_error(code, _not_ready):
    return code


class WorldTest(unittest.TestCase):
    def make(self, *faults, limit=600):
        return world.World({"faults": list(faults)}, no_error, limit)

    def test_faults_are_counted_by_kind(self):
        w = self.make({"at": "run", "call": 2, "code": "ABORTED"}, {"at": "save", "call": [1, 3], "code": "INTERNAL"})
        self.assertEqual([w.meet("run")[0] for _ in range(3)], [None, "ABORTED", None])
        self.assertEqual([w.meet("save")[0] for _ in range(4)], ["INTERNAL", None, "INTERNAL", None])

    def test_the_last_code_wins_with_its_effect(self):
        w = self.make({"at": "run", "call": 1, "code": "ABORTED", "effect": "lost_reply"},
                      {"at": "run", "call": 1, "code": "INTERNAL"})
        self.assertEqual(w.meet("run"), ("INTERNAL", False))

    def test_other_workers_act_before_the_call(self):
        w = self.make({"at": "run", "call": 1, "advance_step": 7})
        steps = []
        w.model = types.SimpleNamespace(advance=steps.append)
        self.assertEqual(w.meet("run"), (None, False))
        self.assertEqual(steps, [7])

    def test_too_many_events_end_it(self):
        w = self.make(limit=2)
        w.log("a")
        w.log("b")
        with self.assertRaises(world.Runaway):
            w.log("c")

    def test_calls(self):
        self.assertTrue(world.matches(None, 5))
        self.assertTrue(world.matches([1, 5], 5))
        self.assertFalse(world.matches(4, 5))

    def test_paths_show_as_dir(self):
        text_of = world.without_directory
        self.assertEqual(text_of("into '/dev/shm/recx1y/model.ckpt-2', done"), "into 'DIR/model.ckpt-2', done")


class TextTest(unittest.TestCase):
    def test_values_keep_their_shape(self):
        self.assertEqual(text.value_text({"a": [1, 0.5, None], "b": {}}), "{a: [1, 0.5, none], b: {}}")
        self.assertEqual(text.value_text(1_000_000_007), "1000000007")


class TurnsTest(unittest.TestCase):
    def setUp(self):
        self.world = world.World({"session": {"services": True}}, no_error)
        self.turns = self.world.turns

    def start(self, name, body):
        def run():
            if self.turns.enter(turn):
                body()
            self.turns.leave(turn)

        thread = threading.Thread(target=run)
        turn = self.turns.spawn(name, thread)
        thread.start()

    def ticks(self, every, times):
        for _ in range(times):
            self.world.log("at %g" % (self.world.now - world.START))
            self.turns.sleep(every)

    def test_who_waits_longest_goes_next_and_time_passes_only_when_all_wait(self):
        self.start("a", lambda: self.ticks(2, 3))
        self.start("b", lambda: self.ticks(1, 3))
        self.world.log("begins")
        self.turns.sleep(0)
        self.world.log("goes on")
        self.turns.sleep(2)
        self.world.log("has slept")
        self.turns.join(100)
        self.assertEqual(self.world.events, ["begins", "a: at 0", "b: at 0", "goes on", "b: at 1", "a: at 2",
                                             "has slept", "b: at 2", "a: at 4"])
        self.assertEqual(self.world.now - world.START, 6)

    def test_a_join_ends_at_its_time(self):
        self.start("a", lambda: self.ticks(50, 1))
        self.turns.join(3)
        self.assertEqual(self.world.now - world.START, 3)
        self.turns.end()
        self.assertEqual(self.turns.others, [])

    def test_who_waits_for_a_stop_is_woken(self):
        coordinator = types.SimpleNamespace(stopped=False, should_stop=lambda: coordinator.stopped)
        self.start("a", lambda: self.world.log("stop %s" % self.turns.wait_for_stop(coordinator, 100)))
        self.turns.sleep(1)
        coordinator.stopped = True
        self.turns.wake_all(self.turns.stop_waiters)
        self.turns.join(5)
        self.assertEqual(self.world.events, ["a: stop True"])
        self.assertEqual(self.world.now - world.START, 1)

    def test_nobody_else_is_recorded(self):
        thread = threading.Thread(target=lambda: self.world.log("unheard"))
        thread.start()
        thread.join()
        self.assertEqual(self.world.events, [])


class GeneratorTest(unittest.TestCase):
    def test_a_scenario_is_a_function_of_its_seed(self):
        for profile in generate.PROFILES:
            made = [generate.scenario(3, i, profile) for i in range(50)]
            self.assertEqual(made, [generate.scenario(3, i, profile) for i in range(50)])
            self.assertNotEqual(made, [generate.scenario(4, i, profile) for i in range(50)])

    def test_scenarios_are_records(self):
        for profile in generate.PROFILES:
            for i in range(200):
                made = json.loads(json.dumps(generate.scenario(5, i, profile)))
                self.assertTrue("ops" in made or "drive" in made, made["id"])

    def test_all_pairs_are_there(self):
        made = list(generate_pairs.scenarios())
        self.assertEqual(len(made), 8010)
        self.assertEqual(len({s["id"] for s in made}), 8010)

    def test_names_of_cases_differ(self):
        names = [s["id"] for s in cases.all_scenarios()]
        self.assertEqual(len(names), len(set(names)))
        self.assertTrue(all(s["title"] for s in cases.all_scenarios()))

    def test_pairs_are_those_that_were_recorded(self):
        recorded = os.path.join(HERE, "..", "tensorflow", "pairs.jsonl.xz")
        for made, known in zip(generate_pairs.scenarios(), main.read([recorded])):
            del known["expect"]
            self.assertEqual(made, known)


class ClusterFactsTest(unittest.TestCase):
    RECOVERED = [
        {"t": 0.0, "ev": "start"}, {"t": 3.0, "ev": "session", "step": 0}, {"t": 3.5, "ev": "open"},
        {"t": 8.0, "ev": "run_failed", "code": "UNAVAILABLE"}, {"t": 12.0, "ev": "session", "step": 60},
        {"t": 12.0, "ev": "step_back", "from": 71, "to": 62, "silent": False}, {"t": 12.1, "ev": "run", "secs": 4.1, "step": 62},
        {"t": 30.0, "ev": "hook_end"}, {"t": 30.1, "ev": "done", "outcome": "clean"},
    ]
    KILLED = [{"t": 0.0, "ev": "start"}, {"t": 5.0, "ev": "killed"}]

    def test_facts_of_a_task(self):
        facts = cluster_facts.task_facts(self.RECOVERED, alive=False)
        self.assertEqual((facts["outcome"], facts["sessions"], facts["run_failed"]), ("clean", 2, ["UNAVAILABLE"]))
        self.assertEqual((facts["step_back_recovered"], facts["longest_run_s"], facts["opened_after_s"]), ([9], 4.1, 3.5))
        self.assertEqual(cluster_facts.task_facts(self.KILLED, alive=False)["outcome"], "killed")
        self.assertEqual(cluster_facts.task_facts(self.KILLED[:1], alive=True)["outcome"], "running")

    def play(self, events, newest):
        return {"id": "a", "tasks": {"chief:0": cluster_facts.task_facts(events, alive=False)}, "newest": newest}

    def test_plays_are_merged_to_sets_and_ranges(self):
        expect = cluster_facts.merge([self.play(self.RECOVERED, 120), self.play(self.KILLED, None)])
        chief = expect["tasks"]["chief:0"]
        self.assertEqual((chief["outcome"], chief["sessions"]), (["clean", "killed"], [0, 2]))
        self.assertEqual((chief["step_back_recovered_times"], chief["step_back_recovered"]), ([0, 1], [9, 9]))
        self.assertEqual((chief["opened_after_s"], expect["newest_checkpoint"], expect["repeats"]), ([3.5, 3.5], [120, 120], 2))

    def test_further_plays_widen(self):
        one = cluster_facts.merge([self.play(self.RECOVERED, 120)])
        both = cluster_facts.widen(one, cluster_facts.merge([self.play(self.KILLED, None)]))
        self.assertEqual(both, cluster_facts.merge([self.play(self.RECOVERED, 120), self.play(self.KILLED, None)]))


class DurationsTest(unittest.TestCase):
    def test_tenths_are_the_middles_of_ten_parts(self):
        self.assertEqual(cluster_facts.tenths(range(100, 0, -1)), [6, 16, 26, 36, 46, 56, 66, 76, 86, 96])
        self.assertEqual(cluster_facts.tenths([7]), [7] * 10)

    def test_jobs_draw_from_what_the_recordings_say(self):
        source = os.path.join(HERE, "..", "..", "properties", "generators", "measured.cc")
        with open(source, encoding="utf-8") as file:
            lines = file.read().splitlines()
        for row in durations.rows():
            self.assertIn(row, lines)


@unittest.skipUnless(importlib.util.find_spec("tensorflow"), "no TensorFlow here")
class RecordingTest(unittest.TestCase):
    def test_recordings_are_reproduced(self):
        folder = os.path.join(HERE, "..", "tensorflow")
        files = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".jsonl"))
        self.assertTrue(main.check(files, 60))


if __name__ == "__main__":
    unittest.main()
