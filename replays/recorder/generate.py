"""Random scenarios, by seed. Needs no TensorFlow.

A scenario is a function of (seed, number, profile) and of nothing else: `scenario(7, 12, "builtin")`
is the same for ever.
"""

import random

import generate_extended
import generate_services
import generate_sessions
import generate_supervisor
import generate_units

# What a session scenario is mostly about; the first of them are drawn more often when none is asked for.
SESSION_PROFILES = ("order", "builtin", "training", "stepfn", "worker")
PROFILES = SESSION_PROFILES + ("supervisor", "units", "extended", "services", "managers")
_MIX = ["order"] * 4 + ["builtin"] * 3 + ["training"] * 2 + ["stepfn", "worker"]


def scenario(seed, number, profile=None):
    r = random.Random("%d/%d" % (seed, number))
    profile = profile or r.choice(_MIX)
    if profile == "supervisor":
        made = generate_supervisor.scenario(r)
    elif profile == "units":
        made = generate_units.scenario(r)
    elif profile == "extended":
        made = generate_extended.scenario(r)
    elif profile == "services":
        made = generate_services.services(r)
    elif profile == "managers":
        made = generate_services.manager(r)
    else:
        made = generate_sessions.scenario(r, profile)
    return {"id": "random_%d_%d_%s" % (seed, number, profile), **made}
