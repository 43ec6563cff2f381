"""How values are written in an event. Needs no TensorFlow."""

TRACE_LEVELS = ["none", "software", "hardware", "full"]


def value_text(value):
    """What a fetch returned, in its shape: "[1, {a: 0.5}, none]"."""
    if value is None:
        return "none"
    if isinstance(value, dict):
        return "{%s}" % ", ".join(f"{key}: {value_text(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join(value_text(item) for item in value)
    return "%d" % value if float(value).is_integer() else "%g" % value


def options_text(options):
    """The fields of RunOptions that are not at their default, in this order; "defaults" if there are none."""
    parts = []
    if options.trace_level:
        parts.append("trace_level=" + TRACE_LEVELS[options.trace_level])
    for field in ("timeout_in_ms", "inter_op_thread_pool"):
        if getattr(options, field):
            parts.append(f"{field}={getattr(options, field)}")
    for field in ("output_partition_graphs", "report_tensor_allocations_upon_oom"):
        if getattr(options, field):
            parts.append(field)
    if options.debug_options.reset_disk_byte_usage:
        parts.append("reset_disk_byte_usage")
    watches = options.debug_options.debug_tensor_watch_opts
    if watches:
        parts.append("watches=" + ",".join(f"{w.node_name}:{w.output_slot}" for w in watches))
    return " ".join(parts) or "defaults"


def yes_no(value):
    return "yes" if value else "no"
