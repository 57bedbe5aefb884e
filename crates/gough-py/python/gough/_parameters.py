"""Named parameters of a robot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from ._documents import Document
from ._results import _near, html_table, text_table


class Parameter(NamedTuple):
    """A parameter of a robot file."""

    name: str
    """Its name."""
    value: float
    """Its value, in SI units."""
    unit: str | None
    """Its unit, where the file says it."""


class Parameters(Mapping[str, Parameter]):
    """Named parameters of a robot. Called, it is the command `gough parameters`: groups that efforts depend on."""

    def __init__(self, of: list[tuple[str, float, list[int] | None]], command: Callable[..., Document]) -> None:
        self._all = {name: Parameter(name, value, _unit(powers)) for name, value, powers in of}
        self._command = command

    def __call__(self, **options: object) -> Document:
        """The document of `gough parameters --json`; options as in :meth:`gough.Robot.dynamic_parameters`."""
        return self._command(**options)

    def __getitem__(self, name: str) -> Parameter:
        if name not in self._all:
            raise KeyError(f"no parameter `{name}`{_near(name, self._all)}")
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def _table(self) -> tuple[str, list[str], list[list[str]]]:
        lines = [[p.name, f"{p.value:.10g}", p.unit or ""] for p in self._all.values()]
        return f"{len(self)} parameters", ["", "value", "unit"], lines

    def __repr__(self) -> str:
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())


def _unit(powers: list[int] | None) -> str | None:
    if powers is None:
        return None
    known = {
        (1, 0, 0): "m",
        (0, 1, 0): "kg",
        (0, 0, 0): "1 or rad",
        (2, 1, 0): "kg*m^2",
        (1, 1, 0): "kg*m",
        (1, 1, -2): "N",
        (2, 1, -2): "N*m",
        (0, 1, -2): "N/m",
        (-1, 1, -2): "Pa",
        (-3, 1, 0): "kg/m^3",
        (4, 0, 0): "m^4",
        (2, 0, 0): "m^2",
    }
    parts = [f"{base}^{p}" if p != 1 else base for base, p in zip(("m", "kg", "s"), powers) if p]
    return known.get((powers[0], powers[1], powers[2]), "*".join(parts))
