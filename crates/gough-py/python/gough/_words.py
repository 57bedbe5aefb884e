"""Questions in the words of the program: options and their values as text."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._arrays import FloatArray, fitting, numbers, one_state
from ._errors import BadQuestion
from ._pose import Pose

if TYPE_CHECKING:
    from ._native import Robot

Value = str | float | os.PathLike[str] | Mapping[str, Any] | npt.ArrayLike | Pose | None
"""What an option takes: text as on the command line, numbers in SI units, arrays, names with values, or a pose."""

_POSES = {"pose", "from", "to", "at"}
_MOTIONS = {"twist", "acceleration", "at-twist", "at-acceleration"}
_REPEATED = {"load", "via", "data", "validate", "point"}
_WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")


def number(value: object, name: str) -> str:
    """A number so that it is read back as it was."""
    array = numbers(name, value)
    if array.ndim != 0:
        raise BadQuestion(f"{name} has shape {array.shape}; give one number")
    return repr(float(array))


def named(names: Sequence[str], values: FloatArray) -> str:
    """`x=0.1,y=0.2`."""
    return ",".join(f"{name}={float(value)!r}" for name, value in zip(names, values))


def pose(robot: Robot, row: FloatArray) -> str:
    """A row of a pose in words."""
    coordinates = robot._coordinates
    if len(row) == 7 and len(coordinates) != 7:
        return named(["x", "y", "z", "qw", "qx", "qy", "qz"], row)
    if len(row) != len(coordinates):
        row = np.asarray(robot._coordinates_of(row.reshape(1, -1))[0])
    return named(coordinates, row)


def _span(value: object, name: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence) and len(value) in (2, 3):
        ends = [part if isinstance(part, str) else number(part, name) for part in value[:2]]
        return ":".join([*ends, *(str(int(n)) for n in value[2:])])
    raise BadQuestion(f"{name}: a span is (from, to) or (from, to, count), not {value!r}")


def mapping(option: str, value: Mapping[str, Any]) -> str:
    """`{"x": 0.1}` as `x=0.1`; lists as `0:0:0.05`, spans as `-0.2:0.2:101`."""

    def one(name: str, part: Any) -> str:
        if isinstance(part, str):
            return part
        if option == "region":
            return _span(part, name)
        if isinstance(part, Sequence | np.ndarray):
            return ":".join(number(x, name) for x in part)
        return number(part, name)

    return ",".join(f"{name}={one(name, part)}" for name, part in value.items())


def told(robot: Robot, option: str, value: Any) -> str:
    """The value of an option in words."""
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return str(value)
    if isinstance(value, Mapping):
        return mapping(option, value)
    if option in _POSES and isinstance(value, Pose):
        return pose(robot, one_state(option, value._of(robot)))
    array = numbers(option, value)
    if array.ndim == 0:
        return str(value) if isinstance(value, int) else repr(float(array))
    if option in _POSES:
        fitting(option, array, [len(robot._coordinates)], robot._coordinates)
        return pose(robot, one_state(option, array))
    if option in _MOTIONS:
        fitting(option, array, [len(robot._components)], robot._components)
        return named(robot._components, one_state(option, array))
    if option == "efforts":
        names = [f"q{name}" for name, _ in robot._joints[0]]
        fitting(option, array, [len(names)], names)
        return named(names, one_state(option, array))
    if option in ("wrench", "load"):
        fitting(option, array, [6], _WRENCH)
        return named(_WRENCH, one_state(option, array))
    return ",".join(repr(float(x)) for x in array.reshape(-1))


def options(robot: Robot, given: Mapping[str, Any]) -> list[str]:
    """Options of a command: what is `None` or `False` is left out."""
    words: list[str] = []
    for name, value in given.items():
        option = name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(f"--{option}")
            continue
        several = option in _REPEATED and isinstance(value, Sequence) and not isinstance(value, str)
        for part in value if several else [value]:
            words.append(f"--{option}={told(robot, option, part)}")
    return words
