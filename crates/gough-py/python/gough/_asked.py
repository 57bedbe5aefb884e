"""What the methods of a robot have in common: poses and motions as rows, answers and refusals, documents, pieces."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from . import _words
from ._arrays import Answer, FloatArray, Shape, fitting, numbers, rows, states
from ._commands import Commands
from ._documents import ask
from ._errors import BadQuestion, Error, NoAnswer, Refusal, refusal
from ._pose import Pose
from ._results import Field, Lazy, Modes, Result
from ._words import Value

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ._pieces import Pieces

PoseLike: TypeAlias = npt.ArrayLike | Pose | str
OnRefusal: TypeAlias = Literal["mask", "raise"]
Refused = tuple[int, str, str, str]
_R = TypeVar("_R", bound=Result)
_L = TypeVar("_L", bound=Lazy)

# Keys of the documents of `idm` and `ddm` that the arrays of results have.
IDM_KEYS: dict[str, tuple[str, ...]] = {
    "efforts": ("efforts",),
    "efforts_with_friction": ("efforts_with_friction",),
    "kinetic_energy": ("kinetic_energy",),
    "kinetic_energy_rotors": ("kinetic_energy_rotors",),
    "potential_energy": ("potential_energy",),
    "condition": ("condition",),
    "ground_wrench": ("ground_wrench_on_robot",),
    "active": ("active", "q"),
    "active_qd": ("active", "qd"),
    "active_qdd": ("active", "qdd"),
    "passive": ("passive", "q"),
    "passive_qd": ("passive", "qd"),
    "passive_qdd": ("passive", "qdd"),
}
DDM_KEYS: dict[str, tuple[str, ...]] = {"acceleration": ("acceleration",), "active_qdd": ("active_qdd",), "passive_qdd": ("passive_qdd",)}


_KEYS: dict[str, dict[str, tuple[str, ...]]] = {
    "idm": IDM_KEYS,
    "ddm": DDM_KEYS,
    "frequencies": {"hz": ("frequencies_hz",)},
}


class Asked(Commands):
    """A robot that reads what it is asked."""

    @cached_property
    def name(self) -> str:
        """Its name."""
        return self._name

    @cached_property
    def coordinates(self) -> list[str]:
        """Names of the coordinates that say where the platform is.

        >>> import gough
        >>> gough.robot("navaro").coordinates
        ['x', 'y', 'phi']
        """
        return self._coordinates

    @cached_property
    def components(self) -> list[str]:
        """Names of the components of twists and accelerations of the platform."""
        return self._components

    @cached_property
    def active_joints(self) -> list[str]:
        """Names of the driven joints."""
        return [name for name, _ in self._joints[0]]

    @cached_property
    def passive_joints(self) -> list[str]:
        """Names of the other joints."""
        return [name for name, _ in self._joints[1]]

    @cached_property
    def home(self) -> FloatArray:
        """The home pose, in the platform's coordinates: shape (n,)."""
        home = np.asarray(self._home)
        home.flags.writeable = False
        return home

    def _key(self) -> tuple[Any, ...]:
        name, text, files, given, actuation = self._source
        return name, text, tuple(sorted(files.items())), tuple(given), actuation

    def _x(self, x: PoseLike) -> FloatArray:
        if isinstance(x, str):
            return np.asarray(self._pose(x))
        if isinstance(x, Pose):
            return x._of(self)
        X = numbers("x", x)
        n = len(self.coordinates)
        fitting("x", X, [n, 7] if n == 6 else [n], self.coordinates)
        if X.shape[-1] == 7 and n == 6 and (np.abs(X[..., 3:]).max(axis=-1, initial=0.0) < 1e-9).any():
            raise BadQuestion("x has a quaternion of length zero; give seven numbers x, y, z, qw, qx, qy, qz")
        return X

    def _motion(self, name: str, value: npt.ArrayLike | None) -> FloatArray:
        if value is None:
            return self._rest
        array = numbers(name, value)
        fitting(name, array, [len(self.components)], self.components)
        return array

    @cached_property
    def _rest(self) -> FloatArray:
        return np.zeros(len(self.components))

    def _state_words(self, X: FloatArray, row: int = 0, **options: Any) -> list[str]:
        """Words of one state."""
        lists = {name: value for name, value in options.items() if isinstance(value, np.ndarray)}
        plain = {name: value for name, value in options.items() if name not in lists}
        motions: dict[str, Any] = {}
        for name, value in lists.items():
            motions[name] = value.reshape(-1, value.shape[-1])[0 if value.ndim == 1 else row]
        at = X.reshape(-1, X.shape[-1])[0 if X.ndim == 1 else row]
        return [f"--pose={_words.pose(self, at)}", *_words.options(self, plain | motions)]

    def _fields(self, keys: Sequence[str], arrays: Mapping[str, FloatArray]) -> dict[str, Field]:
        known = self._known_fields
        return {name: known.get(name) or _numbered(name, arrays[name].shape[-1]) for name in (*keys, *arrays)}

    @cached_property
    def _known_fields(self) -> dict[str, Field]:
        fields: dict[str, Field] = {}
        place = tuple("rad" if name in ("roll", "pitch", "yaw", "phi") else "m" for name in self.coordinates)
        fields["x"] = Field(tuple(self.coordinates), place)
        motion = tuple("rad" if name in ("phi", "wx", "wy", "wz") else "m" for name in self.components)
        dotted = tuple(f"{name}dd" for name in self.components)
        fields["acceleration"] = Field(dotted, tuple(f"{unit}/s^2" for unit in motion))
        for key, joints in zip(("active", "passive"), self._joints):
            units = tuple("m" if slides else "rad" for _, slides in joints)
            for suffix, per in (("", ""), ("_qd", "/s"), ("_qdd", "/s^2")):
                letter = suffix[1:] or "q"
                labels = tuple(f"{letter}{name}" for name, _ in joints)
                fields[key + suffix] = Field(labels, tuple(unit + per for unit in units))
        drives = tuple("N" if slides else "N*m" for _, slides in self._joints[0])
        fields["efforts"] = Field(tuple(f"tau_{name}" for name, _ in self._joints[0]), drives)
        rubbed = tuple(f"tau_with_friction_{name}" for name, _ in self._joints[0])
        fields["efforts_with_friction"] = Field(rubbed, drives)
        for energy in ("kinetic_energy", "kinetic_energy_rotors", "potential_energy"):
            fields[energy] = Field(None, ("J",))
        fields["condition"] = Field(None, ("1",))
        wrench = tuple(f"ground_{name}" for name in ("fx", "fy", "fz", "mx", "my", "mz"))
        fields["ground_wrench"] = Field(wrench, ("N", "N", "N", "N*m", "N*m", "N*m"))
        return fields

    def _result(
        self,
        kind: type[_R],
        question: Mapping[str, Any],
        lead: Shape,
        arrays: Mapping[str, FloatArray],
        refused: Sequence[Refused],
        on_refusal: OnRefusal,
        told: tuple[str, Callable[[], list[str]]] | None,
        keys: Mapping[str, Any] | None = None,
    ) -> _R:
        if refused and lead == ():
            self._raise_one(refused[0], told)
        list_of = [_refusal(lead, one) for one in refused]
        _check(on_refusal, list_of, lead)
        return kind(self.name, question, lead, self._fields(tuple(keys or ()), arrays), arrays, list_of)

    def _raise_one(self, refused: Refused, told: tuple[str, Callable[[], list[str]]] | None) -> NoReturn:
        """One state: in the words of the program."""
        if told is not None:
            command, words = told
            (found,) = ask(self, command, [words()])
            if isinstance(found, Error) and found.kind == refused[1]:
                raise found
        raise refusal(*refused[1:])

    def _modes_of(
        self,
        question: Mapping[str, Any],
        lead: Shape,
        found: Sequence[Any],
        on_refusal: OnRefusal,
        names: tuple[str, str],
    ) -> Modes:
        refused = [why for _, why in found if why is not None]
        if refused and lead == ():
            self._raise_one(refused[0], None)
        list_of = [_refusal(lead, one) for one in refused]
        _check(on_refusal, list_of, lead)
        places = [answer[0] if answer is not None else [] for answer, _ in found]
        most = max((len(list_) for list_ in places), default=0)
        widths = [len((self._known_fields[name].labels) or ()) for name in names]
        arrays = [np.full((len(places), most, width), np.nan) for width in widths]
        modes = np.full((len(places), most), "", dtype=object)
        for i, list_ in enumerate(places):
            for k, (first, second, _, mode) in enumerate(list_):
                arrays[0][i, k], arrays[1][i, k], modes[i, k] = first, second, mode
        shaped = {name: array.reshape(*lead, most, width) for name, array, width in zip(names, arrays, widths)}
        result = Modes(self.name, question, lead, self._fields([], shaped), shaped, list_of)
        result.working_modes = modes.reshape(*lead, most)
        result.count = np.asarray([len(list_) for list_ in places], dtype=np.int64).reshape(lead)
        complete = [answer is not None and answer[1] for answer, _ in found]
        result.complete = np.asarray(complete, dtype=np.bool_).reshape(lead)
        return result

    def _all_of_idm(
        self,
        given: tuple[FloatArray, FloatArray, FloatArray],
        mode: str | None,
        loads: tuple[str | None, str | None, float | None],
        threads: int | None,
        lead: Shape,
        count: int,
    ) -> tuple[dict[str, FloatArray], list[Refused]]:
        a, p = len(self.active_joints), len(self.passive_joints)
        states(lead, 5 * a + 3 * p + 10)
        widths = [a, a, 4, 6, a, a, a, p, p, p]
        out: list[FloatArray] = [np.empty((count, width)) for width in widths]
        refused = self._idm(given, mode, loads, checked_threads(threads), count, out)
        names = ["efforts", "efforts_with_friction", "", "ground_wrench", "active", "active_qd", "active_qdd"]
        names += ["passive", "passive_qd", "passive_qdd"]
        arrays = {name: array.reshape(*lead, -1) if array.size else array.reshape(*lead, array.shape[-1])
                  for name, array in zip(names, out) if name}
        scalars = ("kinetic_energy", "kinetic_energy_rotors", "potential_energy", "condition")
        arrays |= {name: np.ascontiguousarray(out[2][:, k]).reshape(lead) for k, name in enumerate(scalars)}
        return arrays, refused

    def _by_documents(
        self,
        kind: type[_L],
        command: str,
        question: Mapping[str, Any],
        lead: Shape,
        count: int,
        arrays: tuple[FloatArray, ...],
        options: Mapping[str, Any],
        on_refusal: OnRefusal,
        threads: int | None,
        out: FloatArray | None,
    ) -> _L:
        """States with options that arrays have no place for: one document each."""
        flat = [rows(array, lead, count) for array in arrays]
        names = {"idm": ("twist", "acceleration"), "ddm": ("twist", "efforts")}.get(command, ())
        same = _words.options(self, options)

        def words(i: int) -> list[str]:
            motion = {name: array[min(i, len(array) - 1)] for name, array in zip(names, flat[1:])}
            return [*self._state_words(flat[0][min(i, len(flat[0]) - 1)], **motion), *same]

        found = ask(self, command, [words(i) for i in range(count)], checked_threads(threads))
        if lead == () and isinstance(found[0], Error):
            raise found[0]
        wrong = next((why for why in found if isinstance(why, Error) and not isinstance(why, NoAnswer)), None)
        if wrong is not None:
            raise wrong
        list_of = [_refused_by(lead, i, why) for i, why in enumerate(found) if isinstance(why, Error)]
        _check(on_refusal, list_of, lead)
        documents = [None if isinstance(one, Error) else one.to_dict() for one in found]
        keys = _KEYS.get(command, {})
        made = {name: _gathered(documents, path, lead) for name, path in keys.items()}
        known = {name: array for name, array in made.items() if array is not None}
        if out is not None:
            main = next(iter(keys))
            own = Answer(lead, known[main].shape[-1], out, list(arrays))
            own.whole[...] = known[main]
            known[main] = own.whole
        result = kind(self.name, question, lead, self._fields([], known), known, list_of)
        result._later = dict
        result._documents = documents
        return result

    def _spread(
        self,
        kind: type[_L],
        question: Mapping[str, Any],
        pieces: Pieces,
        how: tuple[Executor | None, str | os.PathLike[str] | None],
        on_refusal: OnRefusal,
        out: FloatArray | None,
    ) -> _L:
        from ._pieces import spread  # executors and their modules, only where they are wanted

        arrays, refused, documents = spread(pieces, *how)
        list_of = [_refusal(pieces.lead, one) for one in refused]
        if list_of and pieces.lead == ():
            raise list_of[0].error
        _check(on_refusal, list_of, pieces.lead)
        if out is not None:
            main = next(iter(arrays))
            own = Answer(pieces.lead, arrays[main].shape[-1], out, list(pieces.inputs.values()))
            own.whole[...] = arrays[main]
            arrays[main] = own.whole
        keys = _KEYS[pieces.method] if pieces.method in ("idm", "ddm") and not documents else {}
        result = kind(self.name, question, pieces.lead, self._fields(list(keys), arrays), arrays, list_of)
        whole = getattr(self, pieces.method)
        result._later = lambda: {name: whole(**pieces.inputs, **pieces.options)[name] for name in keys}
        if documents:
            result._documents = documents
        return result


_NUMBERED: dict[tuple[str, int], Field] = {}


def _numbered(name: str, width: int) -> Field:
    """Of arrays that have as many columns as were asked for."""
    found = _NUMBERED.get((name, width))
    if found is None:
        label, unit = ("f", "Hz") if name == "hz" else (name + "_", "rad^2/s^2")
        found = Field(tuple(f"{label}{k + 1}" for k in range(width)), (unit,) * width)
        _NUMBERED[name, width] = found
    return found


def checked_threads(threads: int | None) -> int | None:
    if threads is None:
        return None
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise BadQuestion(f"threads is {threads!r}; give a number above zero, or leave it out for all cores")
    return threads


def given_of(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None and value is not False}


def word_of(robot: Commands, option: str, value: Value) -> str | None:
    return None if value is None else _words.told(robot, option, value)


def _refusal(lead: Shape, refused: Refused) -> Refusal:
    index = np.unravel_index(refused[0], lead) if lead else ()
    return Refusal(tuple(int(i) for i in index), *refused[1:])


def _refused_by(lead: Shape, place: int, why: Error) -> Refusal:
    return _refusal(lead, (place, why.kind, str(why), json.dumps(why.facts)))


def _check(on_refusal: str, refused: list[Refusal], lead: Shape) -> None:
    if on_refusal not in ("mask", "raise"):
        raise BadQuestion(f"on_refusal is {on_refusal!r}; it is 'mask' or 'raise'")
    if on_refusal == "raise" and refused:
        first = refused[0].error
        where = ", ".join(str(one.index) for one in refused[:5]) + (", .." if len(refused) > 5 else "")
        message = f"{len(refused)} of {int(np.prod(lead))} states have no answer, at {where}; the first: {first}"
        raise type(first)(message, first.kind, {**first.facts, "indices": [one.index for one in refused]})


def _gathered(documents: Sequence[dict[str, Any] | None], path: tuple[str, ...], lead: Shape) -> FloatArray | None:
    """One number or list of all documents, NaN where there is no document; `None` where no document has it."""
    values: list[Any] = []
    for document in documents:
        value: Any = document
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        values.append(value)
    there = next((value for value in values if value is not None), None)
    if there is None:
        return None
    width = np.asarray(there, dtype=np.float64).shape
    filled = [np.full(width, np.nan) if value is None else np.asarray(value, dtype=np.float64) for value in values]
    return np.stack(filled).reshape((*lead, *width))
