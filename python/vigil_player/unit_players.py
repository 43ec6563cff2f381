"""Unit recordings: small parts of TensorFlow, one operation after the other."""

import types

from . import unit_manager, unit_more, units, world

PLAYERS = types.MappingProxyType({**units.PLAYERS, **unit_more.PLAYERS, **unit_manager.PLAYERS})


def play(scenario):
    w = world.active
    out = w.events
    w.log = lambda text: None  # what sessions and coordinators below say of themselves is no part of it
    w.files_carry_time = True
    PLAYERS[scenario["unit"]](scenario, out)
    return {"events": out}
