"""Dynamics of parallel robots: geometry, singularities, efforts, simulation, vibration, generated code.

>>> import gough
>>> r = gough.robot("five-bar")
>>> s = r.inverse_geometry([0.05, 0.25])
>>> s.active.round(4).tolist()
[1.5431, 1.1393]
>>> t = r.idm([[0.05, 0.25], [0.0, 0.3]], xdd=[0.0, 9.81])
>>> t.efforts.shape
(2, 2)

A robot is one that comes with the package (:func:`robot`), a file (:func:`load`) or a text (:func:`from_text`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gough_command

gough_command.choose(Path(__file__).parent)

from . import _native  # noqa: E402
from ._documents import Document  # noqa: E402
from ._errors import (
    BadQuestion,
    BadRobot,
    Error,
    Fault,
    NoAnswer,
    OutOfRange,
    OutOfReach,
    Refusal,
    Singular,
)
from ._map import Map
from ._page import Page
from ._parameters import Parameter, Parameters
from ._pose import Pose
from ._results import Accelerations, Efforts, Field, Frequencies, Modes, Result
from ._robot import Robot, settings

if TYPE_CHECKING:
    from concurrent.futures import Executor

__all__ = [
    "Accelerations",
    "BadQuestion",
    "BadRobot",
    "Document",
    "Efforts",
    "Error",
    "Fault",
    "Field",
    "Frequencies",
    "Map",
    "Modes",
    "NoAnswer",
    "OutOfRange",
    "OutOfReach",
    "Page",
    "Parameter",
    "Parameters",
    "Pose",
    "Refusal",
    "Result",
    "Robot",
    "Singular",
    "from_text",
    "lanes",
    "load",
    "ray_executor",
    "robot",
    "robots",
]

__version__: str = _native.version

lanes: str = _native.lanes
"""The instructions that the native module was built for: `avx2`, or `baseline`."""

_SHIPPED = dict(_native.shipped())


def robots() -> list[str]:
    """Names of the robots that come with the package.

    >>> import gough
    >>> "navaro" in gough.robots()
    True
    """
    return list(_SHIPPED)


def robot(name: str, *, set: Mapping[str, float | str] | None = None, actuation: str | None = None) -> Robot:
    """A robot that comes with the package, by name.

    Args:
        name: one of :func:`robots`.
        set: values of named parameters, numbers in SI units or text such as `"220 mm"`.
        actuation: which set of drives works; the first of the file unless given.

    >>> import gough
    >>> gough.robot("delta").active_joints
    ['11', '21', '31']
    """
    if name not in _SHIPPED:
        from ._results import _near

        near = _near(name, _SHIPPED)
        raise BadQuestion(f"no shipped robot is called `{name}`{near}{'' if near[-1] == '?' else '.'} A file is read by gough.load")
    return Robot(name, _SHIPPED[name], {}, settings(set), actuation)


def load(
    path: str | os.PathLike[str], *, set: Mapping[str, float | str] | None = None, actuation: str | None = None
) -> Robot:
    """The robot in a file; files that it names are read from its folder.

    Args:
        path: the file.
        set: values of named parameters, numbers in SI units or text such as `"220 mm"`.
        actuation: which set of drives works; the first of the file unless given.

    Raises:
        BadRobot: the file has faults, all of them in `faults`.
    """
    name = os.fspath(path)
    text, files = _native.read(name)
    return Robot(name, text, files, settings(set), actuation)


def from_text(
    text: str,
    *,
    name: str = "robot",
    files: Mapping[str, str] | None = None,
    set: Mapping[str, float | str] | None = None,
    actuation: str | None = None,
) -> Robot:
    """The robot in a text; `files` are those that it names, with their texts."""
    return Robot(name, text, dict(files or {}), settings(set), actuation)


def ray_executor(**options: Any) -> Executor:
    """An executor on Ray, which is started where it is not; `options` are those of `ray.remote`."""
    from . import _pieces

    return _pieces.ray_executor(**options)
