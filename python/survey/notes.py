"""What was found, explained: (hook, promise) -> why. Each kind was tried by hand: by_hand.py."""

SECOND_CLOSE = ("right: `end` runs the session, which is None when a session is closed inside of its `with` (closed "
                "again at its end). What comes out is TensorFlow's own \"Session is already closed.\", while handling "
                "the hook's AttributeError; hooks behind it are not told")

NOTES = {
    ("LoggingTensorHook_at_end", "hook.end_needs_session"): SECOND_CLOSE,
    ("CheckpointSaverHook", "hook.end_needs_session"): SECOND_CLOSE,
    ("FinalOpsHook", "hook.end_needs_session"): SECOND_CLOSE,
    ("slim_SummaryAtEndHook", "hook.end_needs_session"): SECOND_CLOSE,
    ("gan_SummaryAtEndHook", "hook.end_needs_session"): SECOND_CLOSE,
    ("estimator_InMemoryEvaluatorHook", "hook.end_needs_session"): SECOND_CLOSE,
    ("estimator_LossRelativeChangeHook", "hook.state_survives_session"):
        "right: `_prev_loss` is set in the constructor and not in `begin`. Used for a second training, it compares the "
        "first loss of that with the last one of the first, and may stop after one step",
    ("tensorlayer_LoadCheckpoint", "hook.fails_by_itself"):
        "right: `self._saver.restore(self._checkpoint)` lacks the session: it has never worked",
    ("tensorlayer_LoadCheckpoint", "hook.state_survives_session"):
        "right: `_loaded` is set before the first attempt and by nobody taken back: a second training, or the session "
        "after a recovery, would go without the checkpoint, and without the error",
    ("magenta_TrainTimeHook", "hook.state_survives_session"):
        "right: `_last_run_duration` is set in the constructor and not in `begin`. Used for a second training, its "
        "first run adds the time that the last run of the first training took (0 is what it took on the virtual clock)",
    ("SyncReplicasOptimizerHook", "hook.thread_outlives_session"):
        "TensorFlow's doing, not the hook's: where a hook behind it fails in `after_create_session`, the session is "
        "forgotten, neither closed nor its coordinator asked to stop. The thread of the hook's queue runner waits in a "
        "run of that session, and another one for that coordinator, as long as the process lives",
}
