"""Named scenarios of a supervisor's running services and of checkpoint managers."""

RUN = {"op": "run"}
CLOCK = {"op": "clock"}


def advance(secs):
    return {"op": "advance", "secs": secs}


def supervised(name, title, session, drive, **parts):
    return {"id": name, "title": title, "session": {"kind": "supervisor", "services": True, "logdir": True, **session},
            "drive": drive, "hooks": [], **parts}


def services():
    summaries, saves = {"save_summaries_secs": 2}, {"save_model_secs": 2}
    work = [RUN, advance(3), RUN, RUN, advance(4.5), RUN]
    yield supervised("services_checkpoint", "a checkpoint at once, then every two seconds", saves, work)
    yield supervised("services_step_counter", "the rate since the pass before; infinite in the first moment", summaries,
                     work)
    yield supervised("services_summary", "with a summary op there are two services", summaries, work,
                     model={"summary": True})
    yield supervised("services_all", "all three, in the order in which they were started", {**summaries, **saves}, work,
                     model={"summary": True})
    yield supervised("services_beside_runs", "they run while a run takes its time", {**summaries, **saves},
                     [{"op": "run", "times": 6}], model={"run_secs": 0.75})
    yield supervised("services_none", "no session, no passes: both periods are 0", {}, work)
    yield supervised("services_no_logdir", "without a directory there is nothing to write to", {**saves, "logdir": False},
                     work)
    yield supervised("services_catch_up", "a loop whose call took long is called back to back until it has caught up", {},
                     [{"op": "start_loop", "every_secs": 2, "secs": 7}, advance(30), CLOCK])
    yield supervised("services_loop_in_time", "a loop that is quick is called every two seconds", {},
                     [{"op": "start_loop", "every_secs": 2, "secs": 0.5}, advance(7), CLOCK], after=[CLOCK])
    yield supervised("services_loop_outlives_stop", "a call that takes long delays the end",
                     {"stop_grace_secs": 100}, [{"op": "start_loop", "every_secs": 2, "secs": 9}, advance(1)],
                     after=[CLOCK])
    yield supervised("services_loop_outlives_grace", "but for a grace period only", {"stop_grace_secs": 3},
                     [{"op": "start_loop", "every_secs": 2, "secs": 50}, advance(1)], after=[CLOCK])
    for code in ("INTERNAL", "OUT_OF_RANGE", "STOP_ITERATION", "OTHER"):
        yield supervised("services_loop_fails_" + code.lower(), "a loop's error stops all and comes out at the end", {},
                         [{"op": "start_loop", "every_secs": 1, "secs": 1, "code": code},
                          {"op": "loop", "max": 5, "body": [RUN, advance(1)]}])
        yield supervised("services_save_fails_" + code.lower(), "so does the error of a service", saves,
                         [{"op": "loop", "max": 5, "body": [RUN, advance(1)]}],
                         faults=[{"at": "save", "call": 2, "code": code}])
    yield supervised("services_first_error_wins", "two services fail: the first error is the one", {**summaries, **saves},
                     [RUN, advance(5)],
                     faults=[{"at": "read_step", "call": 4, "code": "INTERNAL"}, {"at": "save", "call": 1, "code": "ABORTED"}])
    yield supervised("services_body_fails", "the body's error ends them", saves,
                     [advance(3), {"op": "raise", "code": "INTERNAL"}])
    yield supervised("services_stop_between", "asked to stop they make no further pass", {**summaries, **saves},
                     [advance(3), {"op": "request_stop"}, {"op": "should_stop"}, advance(10)])
    yield supervised("services_twice", "started again they run twice", saves,
                     [{"op": "start_services"}, advance(3)])
    yield supervised("services_second_life", "a second session after a stop has services of its own", saves,
                     [{"op": "prepare"}, RUN, advance(3), {"op": "stop"}, {"op": "close"}, advance(20), {"op": "prepare"},
                      RUN, advance(3), {"op": "stop"}, {"op": "close"}], scope="bare")
    yield supervised("services_closed_session", "a session that is closed under them", saves,
                     [{"op": "prepare"}, advance(1), {"op": "close"}, advance(3), {"op": "should_stop"},
                      {"op": "stop", "catch": True}], scope="bare")
    yield supervised("services_not_stopped", "nobody stops them", saves, [{"op": "prepare"}, advance(5), CLOCK],
                     scope="bare")


def manager(name, title, args, ops):
    return {"id": name, "title": title, "unit": "checkpoint_manager", "args": args, "ops": ops}


def save(step, **more):
    return {"op": "save", "step": step, **more}


def saves(*steps, secs=1):
    return [op for step in steps for op in (advance(secs), save(step))]


def again(**args):
    return {"op": "new_manager", "args": args}


def managers():
    ask = [{"op": "latest"}, {"op": "checkpoints"}]
    restore = {"op": "restore"}
    yield manager("manager_keeps_two", "all but the newest two go", {"max_to_keep": 2}, [*saves(1, 2, 3, 4), *ask])
    yield manager("manager_keeps_all", "without a limit all stay, and are listed", {}, [*saves(1, 2, 3), *ask])
    yield manager("manager_no_limit_then_one", "a limit that is lower than before holds at the next save", {},
                  [*saves(1, 2, 3), again(max_to_keep=1), *ask, restore, *saves(4), *ask])
    yield manager("manager_not_restored", "a process that does not restore begins at 1 again: what is there is overwritten",
                  {"max_to_keep": 3}, [*saves(1, 2, 3), again(max_to_keep=3), *saves(4, 5), *ask])
    yield manager("manager_restored", "one that restores goes on", {"max_to_keep": 3},
                  [*saves(1, 2, 3), again(max_to_keep=3), restore, *saves(4, 5), *ask])
    yield manager("manager_numbers", "a number of one's own; the count goes on all the same", {"max_to_keep": 5},
                  [save(1, number=7), save(2), save(3, number=3), save(4), *ask])
    yield manager("manager_same_number", "written again it is the newest", {"max_to_keep": 2},
                  [save(1, number=1), save(2, number=2), save(3, number=1), save(4, number=3), *ask])
    yield manager("manager_preserves", "one of every half hour stays for good, and is not listed",
                  {"max_to_keep": 1, "keep_checkpoint_every_n_hours": .5},
                  [*saves(1, 2, 3, 4, 5, 6, secs=900), *ask, again(max_to_keep=1), *ask, restore, *saves(7, 8, secs=900)])
    yield manager("manager_preserves_none", "every 0 hours: never", {"max_to_keep": 1, "keep_checkpoint_every_n_hours": 0},
                  saves(1, 2, 3, secs=4000))
    yield manager("manager_interval", "saves by steps", {"checkpoint_interval": 2},
                  [*saves(1, 2, 3, 3), save(4, check_interval=False), save(4, check_interval=False), *saves(5, 6)])
    yield manager("manager_interval_restored", "the step that was restored counts as saved", {"checkpoint_interval": 2},
                  [*saves(4), again(checkpoint_interval=2), restore, *saves(5, 6)])
    yield manager("manager_interval_last_step", "the step of the last save is given",
                  {"checkpoint_interval": 3, "last_checkpoint_step": 2}, saves(2, 4, 5))
    yield manager("manager_no_step_counter", "an interval of what?", {"checkpoint_interval": 2, "no_step_counter": True}, [])
    yield manager("manager_keeps_none", "a limit of 0 is refused", {"max_to_keep": 0}, [])
    yield manager("manager_init_fn", "called when there is nothing to restore", {"init_fn": True},
                  [restore, save(1), restore, again(init_fn=True), restore])
    yield manager("manager_nothing_to_restore", "neither checkpoint nor function", {}, [restore, *ask])
    for what in ("empty_state", "garbage_state"):
        yield manager("manager_" + what, "the state file is damaged", {"max_to_keep": 2},
                      [*saves(1, 2), {"op": "damage", "what": what}, *ask, again(max_to_keep=2), *ask, restore, save(3)])
    for what in ("missing_index", "missing_dir_entry"):
        yield manager("manager_" + what, "the newest checkpoint is damaged", {"max_to_keep": 2},
                      [*saves(1, 2), {"op": "damage", "what": what, "step": 2}, *ask, restore, again(max_to_keep=2), restore,
                       save(3)])
    yield manager("manager_other_name", "the name is the prefix of all", {"checkpoint_name": "model.ckpt", "max_to_keep": 1},
                  [*saves(1, 2), again(checkpoint_name="other", max_to_keep=1), restore, *saves(3), *ask])
