"""What hooks cost: needs TensorFlow."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("tensorflow")

HOOKS = '''
import time
import tensorflow.compat.v1 as tf

class Slow(tf.train.SessionRunHook):
    def after_run(self, context, values):
        end = time.perf_counter() + 0.001
        while time.perf_counter() < end:
            pass

def stops(w):
    return tf.train.StopAtStepHook(last_step=30)

class Fails(tf.train.SessionRunHook):
    def after_run(self, context, values):
        raise ValueError("here")
'''


def bench(tmp_path, *arguments):
    """In a process of its own: the player's patches are for the whole process."""
    (tmp_path / "hooks.py").write_text(HOOKS)
    command = [sys.executable, "-m", "vigil_player.bench_cli", "--blocks", "3", "--runs", "20", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def test_what_a_slow_hook_costs(tmp_path):
    said = bench(tmp_path, f"{tmp_path}/hooks.py:Slow", "--json", "-")
    assert said.returncode == 0, said.stderr
    report = json.loads(said.stdout)
    assert (report["blocks"], report["runs"]) == (3, 20)
    floor, slow = report["hooks"]
    assert floor["name"] == "(does nothing)" and floor["allocations"] is None
    assert slow["name"].endswith("hooks.py:Slow") and slow["ns"] > 900_000
    assert slow["low"] <= slow["ns"] <= slow["high"]


def test_the_table_and_the_file(tmp_path):
    said = bench(tmp_path, f"{tmp_path}/hooks.py:Slow", "--json", str(tmp_path / "out.json"))
    assert said.stdout.splitlines()[0].split() == ["hook", "ns", "a", "run", "quartiles", "ns", "later", "allocs"]
    assert "A run without hooks takes" in said.stdout
    assert len(json.loads((tmp_path / "out.json").read_text())["hooks"]) == 2


@pytest.mark.parametrize("name, why", [("stops", "stops the training before it was measured"),
                                       ("Fails", "fails: ValueError: here"), ("None", "has no hook 'None'")])
def test_what_cannot_be_measured_is_named(tmp_path, name, why):
    said = bench(tmp_path, f"{tmp_path}/hooks.py:{name}")
    assert said.returncode == 2 and why in said.stderr, said.stderr
