"""Robots, and what they are asked."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native, _words
from ._asked import checked_threads, given_of
from ._card import card
from ._documents import Document, ask, one
from ._dynamics import Dynamics
from ._errors import BadQuestion, Error
from ._map import Map
from ._page import Page
from ._parameters import Parameters
from ._words import Value

if TYPE_CHECKING:
    from concurrent.futures import Executor


class Robot(Dynamics):
    """A robot, ready to be asked. Made by :func:`gough.robot`, :func:`gough.load` or :func:`gough.from_text`; it never changes.

    There is one method per command of the program, under the same name. Poses `x` have the platform's own coordinates along
    their last axis, in the order of `coordinates`; leading axes are states and broadcast as in numpy. A spatial platform takes
    seven numbers too: position and quaternion, scalar first. Twists `xd` and accelerations `xdd` have the platform's own
    `components`. All numbers are in SI units and radians.

    One state that has no answer raises :class:`gough.NoAnswer`; of many states the others are answered, `ok` is a mask and
    `refused` says why. `on_refusal="raise"` raises there too. `threads` limits how many cores are used.
    """

    # What the robot is

    @cached_property
    def mode(self) -> str:
        """The working mode of the file."""
        return self._mode

    @cached_property
    def parameters(self) -> Parameters:
        """Named parameters, and, called, the command of that name.

        >>> import gough
        >>> round(gough.robot("five-bar").parameters["d12"].value, 4)
        0.213
        """
        return Parameters(self._parameters, self.dynamic_parameters)

    @property
    def text(self) -> str:
        """The text of its file."""
        return self._source[1]

    def with_parameters(self, **values: float | str) -> Robot:
        """The robot with other values of named parameters: numbers in SI units, or quantities such as `"220 mm"`.

        >>> import gough
        >>> r = gough.robot("five-bar").with_parameters(d13="19 cm")
        >>> r.parameters["d13"].value
        0.19
        """
        name, text, files, given, actuation = self._source
        for unknown in values.keys() - self.parameters.keys():
            self.parameters[unknown]  # tells the nearest
        kept = [(own, value) for own, value in given if own not in values]
        return type(self)(name, text, files, [*kept, *settings(values)], actuation)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Robot) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (_native.version, *self._source)

    def __repr__(self) -> str:
        legs = f"{len(self.active_joints)} drives ({', '.join(self.active_joints)})"
        return f"<gough.Robot {self.name}: platform {', '.join(self.coordinates)}; {legs}; working mode {self.mode}>"

    def _repr_html_(self) -> str:
        return card(self)

    def ask(self, command: str, **options: Value) -> Document:
        """Any command of the program with its options, `-` written as `_`: the document of `--json`.

        >>> import gough
        >>> gough.robot("five-bar").ask("kinematics", pose={"x": 0.05, "y": 0.25})["working_mode"]
        '+-'
        """
        return one(self, command, _words.options(self, options))

    def view(
        self,
        *,
        pose: Value = None,
        mode: Value = None,
        trajectory: str | os.PathLike[str] | None = None,
        map: str | None = None,
        output: str | os.PathLike[str] | None = None,
        show: bool = False,
    ) -> Page:
        """The page of the viewer: in a notebook the answer shows itself; its `file` opens in any browser, without a server.

        `trajectory` is a CSV file with a motion to play, as `gough idm --trajectory` takes it; `map` a map to show, such as
        `"f1,x=-0.2:0.2,y=-0.2:0.2"`. `output` is where the page goes, a folder of temporary files unless given; `show`
        opens a browser.
        """
        place = _page(output, "view.html")
        given: dict[str, Any] = {"pose": pose, "mode": mode, "map": map, "output": place, "no_open": not show}
        given["trajectory"] = None if trajectory is None else os.fspath(trajectory)
        return Page(place, one(self, "view", _words.options(self, given)))

    def report(self, *, output: str | os.PathLike[str] | None = None, no_view: bool = False) -> Page:
        """Everything about the robot on one page: `gough report`. `document` says which parts it has.

        `output` is where the page goes, a folder of temporary files unless given; `no_view` leaves the live robot out.
        """
        place = _page(output, "report.html")
        return Page(place, one(self, "report", _words.options(self, {"output": place, "no_view": no_view})))

    # Maps and code

    def map(
        self,
        quantity: str,
        *,
        mode: Value = None,
        stiffness: float | None = None,
        wrench: Value = None,
        actuators: Value = None,
        method: Value = None,
        rods: Value = None,
        virtual: Value = None,
        follow: bool = False,
        by_order: bool = False,
        device: Value = None,
        plot: Value = None,
        scale: Value = None,
        csv: Value = None,
        threads: int | None = None,
        executor: Executor | None = None,
        folder: str | os.PathLike[str] | None = None,
        **coordinates: float | str | tuple[float | str, float | str] | tuple[float | str, float | str, int],
    ) -> Map:
        """A quantity over a region of the workspace, by its name in `gough map --quantity`.

        Coordinates are spanned, `x=(-0.2, 0.2, 101)`, or fixed, `phi="-60 deg"`; those left out are those of home. With
        `executor` or `folder` the map is computed in rows, its last coordinate one value after the other: the same numbers to
        the last bit, frequencies to 1e-10. Areas (`aspect`, `reachable`) and modes that are followed belong together and are not.

        >>> import gough
        >>> r = gough.robot("five-bar")
        >>> m = r.map("conditioning", x=(-0.1, 0.1, 11), y=(0.2, 0.3, 6))
        >>> m.values.shape, list(m.axes)
        ((11, 6), ['x', 'y'])
        """
        region = {name: span for name, span in coordinates.items() if isinstance(span, tuple | list)}
        fixed = {name: value for name, value in coordinates.items() if name not in region}
        if not region:
            raise BadQuestion("a map needs a span: x=(-0.2, 0.2, 101)")
        if executor is not None or folder is not None:
            if len(region) < 2 or quantity in ("aspect", "reachable") or follow or plot or csv or device:
                raise BadQuestion(
                    "executor and folder take rows of a map over two or three coordinates, without areas, follow, device, plot and csv"
                )
            own = {"mode": mode, "stiffness": stiffness, "wrench": wrench, "actuators": actuators, "method": method}
            own |= {"rods": rods, "virtual": virtual, "threads": threads}
            counted = {"by_order": True} if re.fullmatch("f[0-9]+", quantity) and method != "cartesian" else {}
            from ._pieces import spread_map

            whole = spread_map(self, (quantity, region, fixed, given_of(own) | counted), executor, folder)
            return Map(Document("map", whole), {"method": "map", "quantity": quantity, **coordinates, **given_of(own)})
        given: dict[str, Any] = {"quantity": quantity, "region": region, "pose": fixed or None, "mode": mode}
        given |= {"stiffness": stiffness, "wrench": wrench, "actuators": actuators, "method": method, "rods": rods}
        given |= {"virtual": virtual, "follow": follow, "by_order": by_order, "device": device, "plot": plot, "scale": scale, "csv": csv}
        (found,) = ask(self, "map", [_words.options(self, given)], checked_threads(threads))
        if isinstance(found, Error):
            raise found
        return Map(found, {"method": "map", **given_of(given)})

    def codegen(
        self,
        model: str,
        lang: str = "c",
        *,
        output: str | os.PathLike[str] | None = None,
        count: bool = False,
        symbolic: Value = None,
        derivatives: Value = None,
        friction: bool = False,
        parameters: Value = None,
        inputs: Value = None,
        orientation: Value = None,
        precision: Value = None,
        solve: Value = None,
        coordinates: Value = None,
        actuators: Value = None,
        margins: bool = False,
        mode: Value = None,
    ) -> Document:
        """Source code of a model: the document of `gough codegen --json`, and with `texts` the files by name.

        `output` is a folder that the files are written to; without it they are in the answer only.

        >>> import gough
        >>> code = gough.robot("five-bar").codegen("idm", "python")
        >>> any(name.endswith(".py") for name in code["texts"])
        True
        """
        given: dict[str, Any] = {"model": model, "lang": lang, "count": count, "symbolic": symbolic}
        given |= {"derivatives": derivatives, "friction": friction, "parameters": parameters, "solve": solve}
        given |= {"inputs": inputs, "orientation": orientation, "precision": precision}
        given |= {"coordinates": coordinates, "actuators": actuators, "margins": margins, "mode": mode}
        import tempfile

        with tempfile.TemporaryDirectory(prefix="gough-") as temporary:
            folder = Path(output) if output is not None else Path(temporary, "code")
            found = one(self, "codegen", [*_words.options(self, given), f"--output={folder}"])
            names = [Path(name) for name in _file_names(found)]
            paths = [path if path.is_absolute() else folder / path.name for path in names]
            texts = {path.name: path.read_text() for path in paths if path.is_file()}
        return Document("codegen", {**found.to_dict(), "texts": texts})


def _page(output: str | os.PathLike[str] | None, name: str) -> Path:
    """Where a page goes."""
    import tempfile

    return Path(output) if output is not None else Path(tempfile.mkdtemp(prefix="gough-"), name)


def _file_names(document: Document) -> list[str]:
    files = document.get("files", [])
    return [file["name"] if isinstance(file, dict) else str(file) for file in files]


def settings(values: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Parameters that are set, as text."""
    pairs = (values or {}).items()
    return [(name, value if isinstance(value, str) else _words.number(value, name)) for name, value in pairs]


def _remade(
    version: str, name: str, text: str, files: dict[str, str], given: list[tuple[str, str]], actuation: str | None
) -> Robot:
    """A robot that was pickled."""
    if version != _native.version:
        raise Error(
            f"the robot {name} was pickled by gough {version}, and this is {_native.version}; make it again from its file"
        )
    return Robot(name, text, files, given, actuation)
