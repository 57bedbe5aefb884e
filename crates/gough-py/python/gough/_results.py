"""Answers: arrays under names, with units, what was refused, and tables of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._arrays import FloatArray, Shape
from ._errors import BadQuestion, Refusal

if TYPE_CHECKING:
    import pandas
    import xarray

Names = Sequence[str]
_ALL_OK = np.ones((), dtype=np.bool_)


class Field(NamedTuple):
    """What the numbers of an array are: a name and a unit for each along its last axis; none where it has no such axis."""

    labels: tuple[str, ...] | None
    units: tuple[str, ...]


def needs(module: str, what: str) -> Any:
    """A module that is not part of the package; its absence is told in one line."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        root = module.split(".")[0]
        raise ImportError(f"{what} needs {root}, which is not installed: pip install {root}") from None


class Result:
    """Arrays under names, one state per place of the leading axes; one state has no leading axes.

    `ok` is true where there is an answer; where it is false, rows are NaN and `refused` says why. A result is indexed by the
    name of an array or of one of its columns: `result["efforts"]`, `result["tau_11"]`.
    """

    question: Mapping[str, Any]
    """What was asked: the method and its arguments."""
    ok: npt.NDArray[np.bool_]
    """Where there is an answer."""
    refused: list[Refusal]
    """States without an answer, in order."""

    def __init__(
        self,
        robot: str,
        question: Mapping[str, Any],
        shape: Shape,
        fields: Mapping[str, Field],
        arrays: Mapping[str, FloatArray],
        refused: list[Refusal],
    ) -> None:
        self.robot = robot
        self.question = question
        self.refused = refused
        self._shape = shape
        self._fields = dict(fields)
        self._arrays = dict(arrays)
        self.ok = _ALL_OK.copy() if shape == () else np.ones(shape, dtype=np.bool_)
        for refusal in refused:
            self.ok[refusal.index] = False

    @property
    def shape(self) -> Shape:
        """The leading axes: `()` for one state."""
        return self._shape

    @property
    def fields(self) -> dict[str, Field]:
        """Names of the arrays, with names and units of their columns."""
        return dict(self._fields)

    @property
    def units(self) -> dict[str, tuple[str, ...]]:
        """Units of every array, one per column."""
        return {name: field.units for name, field in self._fields.items()}

    def _array(self, name: str) -> FloatArray:
        return self._arrays[name]

    _elsewhere: Mapping[str, str] = {}
    """Arrays that an answer of this kind has otherwise, and what to ask for them."""

    def __getattr__(self, name: str) -> FloatArray:
        if name.startswith("_") or name not in self.__dict__.get("_fields", {}):
            if name in self._elsewhere:
                raise AttributeError(f"`{name}` is not part of this answer; {self._elsewhere[name]}")
            raise AttributeError(f"{type(self).__name__} has no `{name}`{_near(name, self.__dict__.get('_fields', {}))}")
        return self._array(name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def __getitem__(self, name: str) -> FloatArray:
        if name in self._fields:
            return self._array(name)
        for own, field in self._fields.items():
            if field.labels is not None and name in field.labels:
                column: FloatArray = self._array(own)[..., field.labels.index(name)]
                return column
        known = [label for field in self._fields.values() for label in field.labels or ()]
        raise KeyError(f"no array and no column `{name}`{_near(name, [*self._fields, *known])}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __contains__(self, name: object) -> bool:
        return name in self._fields

    def _columns(self, names: Sequence[str] | None = None) -> dict[str, FloatArray]:
        """One flat list per column."""
        flat: dict[str, FloatArray] = {}
        for name in names or self._shown():
            array, field = self._array(name), self._fields[name]
            if field.labels is None:
                flat[name] = array.reshape(-1)
            else:
                lists = array.reshape(-1, len(field.labels))
                flat.update((label, lists[:, k]) for k, label in enumerate(field.labels))
        return flat

    def _shown(self) -> list[str]:
        return [name for name in self._fields if name in self._arrays]

    def to_dict(self) -> dict[str, Any]:
        """All arrays as lists, under their names."""
        return {name: self._array(name).tolist() for name in self._fields}

    def to_pandas(self, fields: Sequence[str] | None = None) -> pandas.DataFrame:
        """A table: one row per state, one column per number. `fields` chooses arrays; those at hand unless given."""
        pd = needs("pandas", "to_pandas")
        columns = self._columns(fields)
        columns["ok"] = self.ok.reshape(-1)  # type: ignore[assignment]
        if len(self._shape) > 1:
            names = [f"state_{k}" for k in range(len(self._shape))]
            index = pd.MultiIndex.from_product([range(n) for n in self._shape], names=names)
        else:
            index = pd.RangeIndex(len(columns["ok"]), name="state")
        table: pandas.DataFrame = pd.DataFrame(columns, index=index)
        return table

    def to_xarray(self, fields: Sequence[str] | None = None) -> xarray.Dataset:
        """A data set: leading axes are `state_0`, `state_1`, .., and every array has its names and units."""
        xr = needs("xarray", "to_xarray")
        dims = [f"state_{k}" for k in range(len(self._shape))]
        made: dict[str, Any] = {"ok": (dims, self.ok)}
        coords: dict[str, Any] = {}
        for name in fields or self._shown():
            array, field = self._array(name), self._fields[name]
            attributes = {"units": ", ".join(dict.fromkeys(field.units))}
            if field.labels is None:
                made[name] = (dims, array, attributes)
            else:
                made[name] = ([*dims, f"{name}_of"], array, attributes)
                coords[f"{name}_of"] = list(field.labels)
        data: xarray.Dataset = xr.Dataset(made, coords=coords, attrs={"robot": self.robot})
        return data

    def _table(self) -> tuple[str, list[str], list[list[str]]]:
        """A heading, names of columns, and the first rows."""
        columns = self._columns()
        count = int(np.prod(self._shape, dtype=np.int64))
        states = "one state" if self._shape == () else f"{count} states {self._shape}"
        no = f", {len(self.refused)} refused" if self.refused else ""
        heading = f"{self.question.get('method', '')} of {self.robot}: {states}{no}"
        if self._shape == ():
            units = [unit for name in self._shown() for unit in self._fields[name].units]
            lines = [[name, f"{values[0]:.6g}", unit] for (name, values), unit in zip(columns.items(), units)]
            more = [["..", "", f"{len(lines) - 24} more"]] if len(lines) > 25 else []
            return heading, ["", "value", "unit"], [*lines[: 24 if more else None], *more]
        head = ["", *columns]
        shown = range(min(count, 8))
        lines = [[str(i), *(f"{values[i]:.6g}" for values in columns.values())] for i in shown]
        if count > len(shown):
            lines.append(["..", *(".." for _ in columns)])
        return heading, head, lines

    def __repr__(self) -> str:
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())

    def __getstate__(self) -> dict[str, Any]:
        for name in self._fields:
            self._array(name)
        state = dict(self.__dict__)
        state.pop("_later", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def _near(name: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), 1)
    return f"; did you mean `{near[0]}`?" if near else f"; there are {', '.join(known)}"


def text_table(heading: str, head: list[str], lines: list[list[str]]) -> str:
    """A table as text."""
    widths = [max(len(line[k]) for line in [head, *lines]) for k in range(len(head))]
    told = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths)).rstrip() for line in [head, *lines]]
    return "\n".join([heading, *told])


def html_table(heading: str, head: list[str], lines: list[list[str]]) -> str:
    """A table for notebooks."""
    from html import escape

    row: Callable[[str, list[str]], str] = lambda tag, cells: (
        "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
    )
    body = "".join(row("td", line) for line in lines)
    return f"<p>{escape(heading)}</p><table><thead>{row('th', head)}</thead><tbody>{body}</tbody></table>"


class Modes(Result):
    """Postures of every state, as many as the state with most of them has; places that are left over are NaN.

    `count` says how many a state has, `working_modes` which they are, `complete` whether it is known that there are no others.
    """

    count: npt.NDArray[np.int64]
    complete: npt.NDArray[np.bool_]
    working_modes: npt.NDArray[np.object_]

    def _columns(self, names: Sequence[str] | None = None) -> dict[str, FloatArray]:
        flat: dict[str, FloatArray] = {}
        for name in names or self._shown():
            array, labels = self._array(name), self._fields[name].labels or ()
            lists = array.reshape(-1, len(labels))
            flat.update((label, lists[:, k]) for k, label in enumerate(labels))
        return flat

    def to_pandas(self, fields: Sequence[str] | None = None) -> pandas.DataFrame:
        """A table: one row per posture, with its state and its working mode."""
        pd = needs("pandas", "to_pandas")
        most = self.working_modes.shape[-1]
        table: pandas.DataFrame = pd.DataFrame(self._columns(fields))
        names = [f"state_{k}" for k in range(len(self._shape))]
        table.index = pd.MultiIndex.from_product([*(range(n) for n in self._shape), range(most)], names=[*names, "mode"])
        table["working_mode"] = self.working_modes.reshape(-1)
        return table[table["working_mode"] != ""]

    def to_xarray(self, fields: Sequence[str] | None = None) -> xarray.Dataset:
        """A data set with one more axis, `mode`."""
        xr = needs("xarray", "to_xarray")
        dims = [*(f"state_{k}" for k in range(len(self._shape))), "mode"]
        made: dict[str, Any] = {"working_mode": (dims, self.working_modes.astype(str))}
        for name in fields or self._shown():
            made[name] = ([*dims, f"{name}_of"], self._array(name))
        coords = {f"{name}_of": list(self._fields[name].labels or ()) for name in fields or self._shown()}
        data: xarray.Dataset = xr.Dataset(made, coords=coords, attrs={"robot": self.robot})
        return data

    def _table(self) -> tuple[str, list[str], list[list[str]]]:
        columns = self._columns()
        modes = self.working_modes.reshape(-1)
        there = [i for i in range(len(modes)) if modes[i]]
        states = f"{self._shape} states" if self._shape else "one state"
        heading = f"{self.question.get('method', '')} of {self.robot}: {len(there)} postures of {states}"
        lines = [[str(modes[i]), *(f"{v[i]:.6g}" for v in columns.values())] for i in there[:12]]
        return heading, ["mode", *columns], lines


class Lazy(Result):
    """A result some of whose arrays are computed when they are first asked for."""

    _later: Callable[[], Mapping[str, FloatArray]]
    _documents: list[dict[str, Any] | None]

    def _array(self, name: str) -> FloatArray:
        if name not in self._arrays:
            for own, array in self._later().items():
                self._arrays.setdefault(own, array)
        if name not in self._arrays:
            raise AttributeError(f"`{name}` is not part of this answer")
        return self._arrays[name]

    @property
    def documents(self) -> list[dict[str, Any] | None]:
        """The JSON documents of the states, where options were given that arrays have no place for."""
        documents: list[dict[str, Any] | None] = self.__dict__.get("_documents", [])
        return documents

    def _part(self, name: str, option: str) -> Any:
        """A part of the documents: of one state itself, of many a list."""
        if not self.documents:
            raise BadQuestion(f"`{name}` was not asked for; ask with {option}=True")
        parts = [None if d is None else d.get(name) for d in self.documents]
        return parts[0] if self._shape == () else parts


class Efforts(Lazy):
    """Efforts of the drives. `efforts` is there at once; the other arrays are computed when they are first asked for."""

    _elsewhere = dict.fromkeys(("ground_wrench", "condition"), "ask with rigid=True for that of the rigid robot")

    @property
    def reactions(self) -> Any:
        """Forces in all joints and closures, where they were asked for."""
        return self._part("reactions", "reactions")

    @property
    def derivatives(self) -> Any:
        """Derivatives of the efforts by state and parameters, where they were asked for."""
        return self._part("derivatives", "derivatives")


class Accelerations(Lazy):
    """Accelerations of platform and joints under efforts."""

    @property
    def derivatives(self) -> Any:
        """Derivatives of the acceleration by state, efforts and parameters, where they were asked for."""
        return self._part("derivatives", "derivatives")


class Frequencies(Lazy):
    """Natural frequencies, from the lowest: `hz` of shape (..., count)."""

    @property
    def energy(self) -> Any:
        """Shares of the energies of every mode, where they were asked for."""
        modes = self._part("modes", "energy")
        return modes

    @property
    def shapes(self) -> Any:
        """How the places of the robot move in every mode, where shapes were asked for."""
        modes = self._part("modes", "shapes")
        if self._shape == ():
            return [mode.get("shape") for mode in modes]
        return [None if m is None else [mode.get("shape") for mode in m] for m in modes]

    @property
    def sensitivity(self) -> Any:
        """Derivatives of the frequencies by the named parameters, where they were asked for."""
        return self._part("sensitivities", "sensitivity")
