"""Named scenarios, each about one rule: what the recorder learned last. Older ones live in cases.jsonl alone."""

import cases_services

RUN = {"op": "run"}
DEAF = 100000  # seconds, longer than any grace period
SHOW = {"method": "after_run", "call": None, "do": "show"}


def probe(name, *plan):
    return {"hook": "probe", "name": name, "plan": list(plan)}


def on(method, call, do, **more):
    return {"method": method, "call": call, "do": do, **more}


def asks(call=None, **options):
    return on("before_run", call, "options", options=options)


def case(name, title, **parts):
    return {"id": name, "title": title, "hooks": [probe("a", SHOW)], "drive": [RUN, RUN], **parts}


def scenarios(group):
    return {"extended": lambda: [*options(), *fetches(), *init_feed(), *enqueue(), *stuck(), *others(), *supervised()],
            "services": lambda: [*cases_services.services()],
            "managers": lambda: [*cases_services.managers()]}[group]()


def all_scenarios():
    return [case for group in ("extended", "services", "managers") for case in scenarios(group)]


def options():
    full, watch = asks(trace_level="full"), asks(watches=["fed:0"])
    yield case("options_none", "nobody asks for anything: a run has default options and no trace")
    yield case("options_full_trace", "one hook asks for a full trace: all see it",
               hooks=[probe("a", SHOW), probe("b", full)])
    for level in ("software", "hardware", "full"):
        yield case("options_trace_" + level, "what a trace level gives", drive=[
            {"op": "run", "options": {"trace_level": level}, "metadata": True}, {"op": "run", "metadata": True}])
    for name, asked in (("software", {"trace_level": "software"}), ("hardware", {"trace_level": "hardware"}),
                        ("full", {"trace_level": "full"}), ("oom", {"report_tensor_allocations_upon_oom": True})):
        yield case("options_server_trace_" + name, "a session on a server traces with a full trace only",
                   hooks=[probe("a", SHOW)], session={"kind": "training", "is_chief": False, "shared_state": True},
                   faults=[{"at": "create", "call": 1, "chief_init": 0}],
                   drive=[{"op": "run", "options": asked, "metadata": True}, {"op": "run", "metadata": True}])
    yield case("options_most_wins", "numbers: the larger of what the caller and the hooks want",
               hooks=[probe("a", asks(timeout_in_ms=700000, inter_op_thread_pool=2)),
                      probe("b", asks(timeout_in_ms=900000), SHOW)],
               drive=[{"op": "run", "options": {"timeout_in_ms": 800000, "trace_level": "hardware"}}, RUN])
    yield case("options_flags_or", "flags: set if anybody sets them",
               hooks=[probe("a", asks(output_partition_graphs=True, reset_disk_byte_usage=False)), probe("b", SHOW)],
               drive=[{"op": "run",
                       "options": {"report_tensor_allocations_upon_oom": True, "reset_disk_byte_usage": True}}])
    yield case("options_watches_add_up", "watches: the caller's, then each hook's, twice if asked for twice",
               hooks=[probe("a", watch, SHOW), probe("b", asks(watches=["train:0", "fed:0"]))],
               drive=[{"op": "run", "options": {"watches": ["loss:0"]}}, RUN])
    for name, mine in (("given", {"options": {"watches": ["loss:0"]}}), ("not_given", {})):
        yield case("options_recovery_" + name, "a recovery inside a run asks the hooks again: what is merged then",
                   hooks=[probe("a", watch, SHOW)], faults=[{"at": "run", "call": [1, 2], "code": "ABORTED"}],
                   drive=[{"op": "run", **mine}, {"op": "run", **mine}])
    yield case("options_step_function", "a step function's run", drive=[
        {"op": "step", "body": [{"op": "run_with_hooks", "options": {"trace_level": "full"}, "metadata": True}]}])
    yield case("options_hook_raises_later", "a hook fails after another has asked", hooks=[
        probe("a", full, SHOW), probe("b", on("before_run", 1, "raise", code="INTERNAL"))],
        drive=[{"op": "run", "catch": True}, RUN])


def fetches():
    for name, fetch in {
            "tensor": "fed", "list": ["train", "fed"], "dict": {"b": "train", "a": "fed"}, "op": "train_op",
            "twice": ["fed", "fed"],
            "op_in_list": ["train_op", "train"], "empty_list": [], "empty_dict": {},
            "deep": [{"x": ["fed", ["train"]]}, [], "loss"],
            "step_before_train": ["step", "train"], "missing_inside": ["fed", {"x": "missing"}]}.items():
        yield case("fetch_" + name, "the values come back in the shape of the fetch",
                   drive=[{"op": "run", "fetch": fetch, "catch": True}])
    yield case("fetch_hook_nested", "a hook's fetch may be nested, too",
               hooks=[probe("a", on("before_run", None, "fetch", what={"s": "step", "l": ["fed", "train_op"]}), SHOW)])
    yield case("fetch_step_function", "a step function's fetch",
               drive=[{"op": "step", "body": [{"op": "run_with_hooks", "fetch": ["train", {"f": "fed"}], "feed": 3}]}])
    yield case("fetch_nothing_trains_nothing", "a fetch without the train op does not train", drive=[
        {"op": "run", "fetch": "fed"}, {"op": "run", "fetch": ["step", "train"]}])
    yield case("fetch_no_global_step", "a fetch of a step that the model does not have", model={"global_step": False},
               drive=[{"op": "run", "fetch": ["step"], "catch": True}, {"op": "run", "fetch": ["fed"]}])


def init_feed():
    fed = {"model": {"fed_variable": True}, "drive": [{"op": "run", "fetch": ["base", "train"]}]}
    for kind in ("monitored", "singular", "training", "supervisor"):
        hooks = [] if kind == "supervisor" else [probe("a")]
        session = {"session": {"kind": kind}, "hooks": hooks}
        yield case("init_feed_" + kind, "the init op is fed", **session, **fed, scaffold={"init_feed": 7})
        yield case("init_feed_missing_" + kind, "an init op that needs a feed and gets none", **session, **fed)
    yield case("init_feed_init_fn", "the feed and an init function", **fed, scaffold={"init_feed": -1, "init_fn": True})
    yield case("init_feed_recovery", "a new session is initialised with the same feed",
               **{**fed, "drive": fed["drive"] * 2}, scaffold={"init_feed": 7},
               faults=[{"at": "run", "call": 2, "code": "ABORTED"}])
    yield case("init_feed_restored", "a restored session needs no feed", **{**fed, "drive": fed["drive"] * 2},
               scaffold={"init_feed": 7}, checkpoint={"dir": True},
               faults=[{"at": "run", "call": 2, "code": "ABORTED"}],
               hooks=[{"hook": "checkpoint_saver", "save_steps": 1}])


def enqueue():
    queue = {"model": {"batches": 3, "input": "queue"}}
    for code in ("INTERNAL", "ABORTED", "UNAVAILABLE", "CANCELLED", "OUT_OF_RANGE", "INVALID_ARGUMENT"):
        for kind in ("monitored", "singular"):
            yield case(f"enqueue_{code.lower()}_{kind}", "what fills the queue fails before the first batch", **queue,
                       session={"kind": kind}, hooks=[probe("a")], faults=[{"at": "enqueue", "call": 1, "code": code}],
                       drive=[{"op": "run", "catch": True}, {"op": "run", "catch": True}])
    yield case("enqueue_fails_twice", "it fails in two sessions, one after the other", **queue, hooks=[probe("a")],
               faults=[{"at": "enqueue", "call": [1, 2], "code": "ABORTED"}])


def stuck():
    leaves = probe("a", on("after_create_session", None, "start_thread", value=DEAF))
    time = {"op": "clock"}
    for name, session in {"default": {}, "five": {"stop_grace_period_secs": 5}, "none": {"stop_grace_period_secs": 0},
                          "singular": {"kind": "singular", "stop_grace_period_secs": 5},
                          "training": {"kind": "training", "stop_grace_period_secs": 5}}.items():
        yield case("stuck_" + name, "a thread that never ends costs one grace period at the end", session=session,
                   hooks=[leaves], after=[time])
    yield case("stuck_recoveries", "and one for each recovery", session={"stop_grace_period_secs": 5}, hooks=[leaves],
               faults=[{"at": "run", "call": [1, 3], "code": "ABORTED"}], drive=[RUN, time, RUN, time], after=[time])
    yield case("stuck_error", "also when the body fails", hooks=[leaves],
               drive=[{"op": "raise", "code": "INTERNAL"}], after=[time])
    for name, stop in {"reported": {}, "ignored": {"ignore_live_threads": True}}.items():
        yield case("stuck_supervisor_" + name, "a supervisor names the thread, unless it is told not to",
                   session={"kind": "supervisor", "stop_grace_secs": 7}, scope="bare", hooks=[],
                   drive=[{"op": "prepare"}, {"op": "start_thread", "secs": DEAF}, RUN,
                          {"op": "stop", "catch": True, **stop}, time])
    yield case("stuck_supervisor_managed", "a managed session's end ignores it",
               session={"kind": "supervisor", "stop_grace_secs": 7},
               hooks=[], drive=[{"op": "start_thread", "secs": DEAF}, RUN], after=[time])


def others():
    yield case("profiler_steps", "a trace every two steps", checkpoint={"dir": True},
               hooks=[probe("a", SHOW), {"hook": "profiler", "save_steps": 2}],
               drive=[{"op": "loop", "max": 6, "body": [RUN]}])
    yield case("profiler_secs", "a trace every two seconds", checkpoint={"dir": True}, model={"run_secs": 1},
               hooks=[{"hook": "profiler", "save_secs": 2}, probe("a", SHOW)],
               drive=[{"op": "loop", "max": 6, "body": [RUN]}])
    yield case("profiler_refused", "a profiler with neither steps nor seconds", hooks=[{"hook": "profiler"}])
    for code in ("INTERNAL", "ABORTED", "OUT_OF_RANGE"):
        yield case("step_catches_run_" + code.lower(), "a step function catches what its run failed with",
                   hooks=[probe("a")],
                   faults=[{"at": "run", "call": 1, "code": code}],
                   drive=[{"op": "step", "body": [{"op": "run_with_hooks", "catch": True}, {"op": "run_with_hooks"}]}])
    yield case("step_catches_request_stop", "a step function catches its own request to stop", hooks=[probe("a")],
               drive=[
        {"op": "step", "body": [{"op": "request_stop", "catch": True}, {"op": "run_with_hooks"}]},
        {"op": "should_stop"}])
    yield {"id": "looper_catches_up", "title": "a slow pass is followed by passes back to back", "unit": "looper",
           "args": {"timer_interval_secs": 2},
           "ops": [{"op": "pass"}, {"op": "pass", "secs": 7}] + [{"op": "pass"}] * 5}


def supervised():
    chief = {"session": {"kind": "supervisor", "logdir": True}, "hooks": []}
    for service, what in {"checkpoint": "no directory", "summary": "no summary", "step_counter": "a step"}.items():
        yield case("service_without_a_directory_" + service, f"the {service} service of a supervisor with {what}",
                   session={"kind": "supervisor"}, hooks=[],
                   drive=[{"op": "service", "name": service, "catch": True}] * 2)
    yield case("service_without_a_step", "a step counter that has no step to count", **chief,
               model={"global_step": False}, drive=[{"op": "service", "name": "step_counter", "catch": True}] * 2)
    stops = {"op": "request_stop", "code": "STOP_ITERATION"}
    for name, drive in {
            "reported": [stops],
            "reported_then_raised": [stops, {"op": "raise", "code": "STOP_ITERATION"}],
            "raised_after_a_stop": [{"op": "stop"}, {"op": "raise", "code": "STOP_ITERATION"}],
            "out_of_a_join": [stops, {"op": "stop"}],
            "out_of_a_guarded_join": [stops, {"op": "guarded", "body": [{"op": "stop"}]}],
            "raised_after_a_caught_join": [stops, {"op": "stop", "catch": True},
                                           {"op": "raise", "code": "STOP_ITERATION"}]}.items():
        yield case("managed_stop_iteration_" + name, "whose STOP_ITERATION it is decides what comes out of the scope",
                   **chief, drive=drive)
    for call, what in {1: "before the first batch", 2: "after the last"}.items():
        yield case(f"enqueue_internal_supervisor_{call}", f"what fills the queue fails {what}", **chief,
                   model={"batches": 2, "input": "queue"}, faults=[{"at": "enqueue", "call": call, "code": "INTERNAL"}],
                   drive=[{"op": "run", "catch": True}] * 3 + [{"op": "should_stop"}])
    fed = {"model": {"fed_variable": True}, "scaffold": {"init_feed": 3}}
    yield case("fed_variable_is_not_in_an_old_checkpoint", "a variable that an earlier process did not save", **fed,
               checkpoint={"dir": True, "preload": [1, 2]})
    yield case("fed_variable_is_in_a_new_checkpoint", "and one that this process did",
               **fed, checkpoint={"dir": True, "preload": [1, 2], "damage": "missing_state"},
               hooks=[{"hook": "checkpoint_saver", "save_steps": 1}],
               faults=[{"at": "run", "call": 2, "code": "ABORTED"}],
               drive=[RUN, {"op": "run", "fetch": ["base", "train"]}])
