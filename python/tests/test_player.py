"""What TensorFlow's player tells: hooks of a kind that are there more than once, threads that end late."""

from vigil_player.tensorflow_player import TensorFlowPlayer


def texts(**scenario):
    answer = TensorFlowPlayer().play({"id": "a", "title": "a", "seed": 1, **scenario})
    return [event for event in answer["events"] if isinstance(event, str)]


def test_each_final_ops_hook_is_known_by_what_it_fetches():
    hooks = [{"hook": "final_ops", "what": "loss"}, {"hook": "final_ops", "what": "loss"}]
    events = texts(hooks=hooks, drive=[])
    assert events.count("session 1 final_ops") == 2
    assert not any("raw_run" in event for event in events)


def test_run_metadata_of_one_step_is_refused_the_second_time():
    hooks = [{"hook": "profiler", "save_steps": 0}]
    events = texts(model={"steps_per_run": 0}, hooks=hooks, drive=[{"op": "run", "times": 4}])
    assert events.count("writer run_metadata step_0 step=None") == 2
    assert events[-1].startswith("driver exit failed USAGE")


def test_threads_of_an_input_are_joined_when_the_last_deaf_one_ends_with_the_grace():
    events = texts(session={"kind": "supervisor", "stop_grace_secs": 13}, scope="bare",
                   model={"batches": 0, "input": "queue"},
                   drive=[{"op": "prepare"}, {"op": "start_thread", "secs": 13}, {"op": "stop"}])
    assert events[-1] == "driver exit clean"
