"""The protocol and the scope of the player: what needs no TensorFlow. Plain unittest: ctest runs it anywhere."""

import io
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from vigil_player import protocol, scope, world  # noqa: E402


class Echo:
    def greeting(self):
        return {"name": "echo", "version": "1", "kinds": [], "behaviours": []}

    def play(self, scenario, lives):
        if scenario["id"] == "odd":
            raise protocol.Cannot("not odd ones")
        return {"verdict": "played", "events": [scenario["id"]]}


def ask(*lines):
    out = io.StringIO()
    protocol.serve(Echo(), [json.dumps(line) if isinstance(line, dict) else line for line in lines], out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


class ProtocolTest(unittest.TestCase):
    def test_greets(self):
        hello, = ask({"type": "hello", "protocols": [1, 2]})
        self.assertEqual((hello["type"], hello["protocol"], hello["name"]), ("hello", 1, "echo"))

    def test_refuses_protocols_of_the_future(self):
        with self.assertRaisesRegex(protocol.NoQuestion, "speaks protocol 1"):
            ask({"type": "hello", "protocols": [2]})

    def test_plays_and_says_what_it_cannot(self):
        played, cannot = ask({"type": "play", "id": 4, "scenario": {"id": "a"}}, "",
                             {"type": "play", "id": 5, "random": True, "scenario": {"id": "odd"}})
        self.assertEqual(played, {"type": "played", "id": 4, "verdict": "played", "events": ["a"]})
        self.assertEqual(cannot, {"type": "cannot", "id": 5, "reason": "not odd ones"})

    def test_refuses_what_is_no_question(self):
        for line in ("hello", "[]", "{}", '{"type":"win"}', "7"):
            with self.assertRaises(protocol.NoQuestion):
                ask(line)


class ScopeTest(unittest.TestCase):
    def why(self, **scenario):
        try:
            scope.check({"id": "a", "drive": [], **scenario})
        except protocol.Cannot as why:
            return str(why)
        return ""

    def test_what_it_knows(self):
        self.assertEqual(self.why(model={"batches": 2}, checkpoint={"dir": True}, limits={"events": 5}), "")
        self.assertEqual(self.why(unit="timer"), "")

    def test_what_it_does_not(self):
        self.assertEqual(self.why(cluster={}), "not the field cluster")
        self.assertEqual(self.why(checkpoint={"events": True}), "not the field checkpoint.events")
        self.assertEqual(self.why(faults=[{"at": "run", "call": 1, "sigterm": True}]), "not the field fault.sigterm")
        self.assertEqual(self.why(session={"stop_on_sigterm": True}), "not the field session.stop_on_sigterm")

    def test_what_means_nothing(self):
        init = [{"at": "run", "call": 1, "chief_init": 2}]
        shared = {"shared_state": True}
        self.assertEqual(self.why(faults=init, session=shared), "")
        self.assertEqual(self.why(faults=init), "no chief_init of what nothing can initialise")
        self.assertEqual(self.why(faults=init, session=shared, model={"global_step": False}),
                         "no chief_init of a model without a global step")

    def test_limits(self):
        self.assertEqual(scope.events_limit({"limits": {"events": 7}}), 7)
        self.assertEqual(scope.events_limit({}), 600)


class StreamTest(unittest.TestCase):
    def setUp(self):
        self.world = world.World({}, lambda code, not_ready: code)

    def test_lines_and_what_has_none_go_in_one_stream(self):
        self.world.log("hook a begin", index=0)
        self.world.note("hook_return", call="begin", code=None, index=0)
        self.world.log("graph finalized")
        self.assertEqual(self.world.events, ["hook a begin", "graph finalized"])
        self.assertEqual(self.world.stream, [{"line": "hook a begin", "index": 0},
                                             {"e": "hook_return", "call": "begin", "index": 0}, "graph finalized"])

    def test_time_is_told_when_it_passes(self):
        self.world.pass_time(2.5)
        self.world.log("sleep 2.5")
        self.world.note("run_end")
        self.assertEqual(self.world.stream, [{"line": "sleep 2.5", "at": 2500000000}, {"e": "run_end"}])


if __name__ == "__main__":
    unittest.main()
