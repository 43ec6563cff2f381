#!/usr/bin/env python3
"""A player for tests that does wrong what it is told to: fake_player.py [--at N] MISTAKE

It plays every scenario in the same way, but makes its mistake at the play number N (from 1; default: 2) of the process.
MISTAKE is one of the functions below, or none.
"""

import json
import os
import sys
import time

HELLO = {"type": "hello", "protocol": 1, "name": "fake", "version": "1", "kinds": ["monitored", "singular"],
         "behaviours": ["tensorflow"], "hook": "fake"}
EVENTS = ["graph finalized", "session 1 created", "driver exit clean"]


def say(message):
    text = message if isinstance(message, str) else json.dumps(message)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def played(number, **more):
    return {"type": "played", "id": number, "verdict": "played", "events": EVENTS, "final": {"checkpoints": []}, "hook": {}, **more}


def none(number):
    say(played(number))


def late(number):
    time.sleep(3600)


def dies(number):
    print("what I wanted to say", file=sys.stderr)
    os._exit(7)


def killed(number):
    os.kill(os.getpid(), 9)


def dies_in_a_line(number):
    sys.stdout.write(json.dumps(played(number))[:40])
    sys.stdout.flush()
    os._exit(0)


def garbage(number):
    say("Traceback (most recent call last):")


def not_utf8(number):
    sys.stdout.buffer.write(b'{"type":"played\xff"}\n')
    sys.stdout.flush()


def twice(number):
    say(json.dumps(played(number)) + "\n" + json.dumps(played(number)))


def out_of_order(number):
    say(played(number + 1))


def no_such_hook(number):
    say(played(number, events=["hook ghost begin"]))


def time_goes_back(number):
    say(played(number, events=[{"e": "run_start", "at": 2}, {"e": "run_end", "at": 1}]))


def too_much(number):
    """1 GiB on one line."""
    piece = "x" * (1 << 20)
    try:
        for _ in range(1 << 10):
            sys.stdout.write(piece)
    except BrokenPipeError:
        os._exit(1)
    say("")


def closes_its_output(number):
    os.close(1)
    time.sleep(3600)


def leaves_a_child(number):
    """Whoever waits for the end of its output waits for the child, too."""
    if os.fork() == 0:
        time.sleep(3600)
    os._exit(5)


def says_much_beside(number):
    for _ in range(100):
        sys.stderr.write("y" * (1 << 16))
    say(played(number))


def cannot(number):
    say({"type": "cannot", "id": number, "reason": "not today"})


def offends(number):
    say(played(number, hook={"offences": [{"promise": "hook.blocks", "actual": "waits 70 s in end"}]}))


def asks_the_machine(number):
    """Of what it saw, some was allowed."""
    seen = [{"what": "random", "name": "random.random", "inside": "end", "step": 3},
            {"what": "changes", "name": "/mine/x"}, {"what": "changes", "name": "/mined"}]
    say(played(number, hook={"seen": seen, "may_write": ["/mine"]}))


def asks_with_leave(number):
    say(played(number, hook={"seen": [{"what": "random", "name": "random.random"}], "may_use_outside": True}))


LAST = (asks_the_machine, asks_with_leave)  # what is not seen again does not count


def sees_what_there_is_not(number):
    say(played(number, hook={"seen": [{"what": "ghosts", "name": "one"}]}))


def unknown_promise(number):
    say(played(number, hook={"offences": [{"promise": "hook.is_ugly", "actual": "it is"}]}))


def decides(number):
    say(played(number, hook={"decisions": [{"step": 3, "what": "asks for a stop"}], "stopped_last_run": True}))


def cannot_make_its_hook(number):
    say(played(number, hook={"error": "the hook could not be made: ValueError: no"}))


def says_nothing_of_its_hook(number):
    answer = played(number)
    del answer["hook"]
    say(answer)


def does_not_set_up(number):
    say(played(number, verdict="not set up", reason="no room"))


def main():
    mistake = globals()[sys.argv[-1]] if sys.argv[-1] in globals() else none
    at = int(sys.argv[2]) if sys.argv[1] == "--at" else 2
    plays = 0
    for line in sys.stdin:
        question = json.loads(line)
        if question["type"] == "hello":
            say(HELLO)
            continue
        plays += 1
        (mistake if plays == at or (plays > at and mistake in LAST) else none)(question["id"])


main()
