"""Native part of the package; shapes: N states, n coordinates of the platform, a active and p passive joints."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from typing_extensions import Self, disjoint_base

_Array = npt.NDArray[np.float64]
_States = tuple[_Array, _Array, _Array]
_Refused = tuple[int, str, str, str]
_Standing = tuple[list[float], list[float], float, str]

__all__ = ["Robot", "ask", "lanes", "read", "run", "shipped", "version"]

version: Final[str]
lanes: Final[str]

def run(arguments: Sequence[str]) -> int: ...
def ask(words: Sequence[str]) -> tuple[int, str, str]: ...
def shipped() -> list[tuple[str, str]]: ...
def read(path: str) -> tuple[str, dict[str, str]]: ...

@disjoint_base
class Robot:
    def __new__(
        cls,
        name: str,
        text: str,
        files: dict[str, str],
        set: list[tuple[str, str]],
        actuation: str | None,
    ) -> Self: ...
    @property
    def _source(self) -> tuple[str, str, dict[str, str], list[tuple[str, str]], str | None]: ...
    @property
    def _name(self) -> str: ...
    @property
    def _coordinates(self) -> list[str]: ...
    @property
    def _components(self) -> list[str]: ...
    @property
    def _joints(self) -> list[list[tuple[str, bool]]]: ...
    @property
    def _home(self) -> list[float]: ...
    @property
    def _mode(self) -> str: ...
    @property
    def _is_flexible(self) -> bool: ...
    @property
    def _leaves_open(self) -> bool: ...
    @property
    def _parameters(self) -> list[tuple[str, float, list[int] | None]]: ...
    @property
    def _segments(self) -> list[tuple[list[float], list[float], int | None]]: ...
    def _pose(self, words: str) -> list[float]: ...
    def _coordinates_of(self, rows: _Array) -> list[list[float]]: ...
    def _ask(self, questions: list[list[str]], threads: int | None) -> list[tuple[int, str, str]]: ...
    def _inverse_geometry(
        self, x: _Array, mode: str | None, threads: int | None, count: int, out: list[_Array]
    ) -> list[_Refused]: ...
    def _working_modes(
        self, x: _Array, threads: int | None
    ) -> list[tuple[tuple[list[_Standing], bool] | None, _Refused | None]]: ...
    def _kinematics(
        self, states: _States, mode: str | None, threads: int | None, count: int, out: list[_Array]
    ) -> list[_Refused]: ...
    def _forward_geometry(
        self, q: _Array, mode: str | None, threads: int | None
    ) -> list[tuple[tuple[list[_Standing], bool] | None, _Refused | None]]: ...
    def efforts(
        self, x: npt.ArrayLike, xd: npt.ArrayLike | None = None, xdd: npt.ArrayLike | None = None
    ) -> _Array: ...
    def _efforts(
        self, states: _States, mode: str | None, threads: int | None, size: tuple[int, bool], out: list[_Array]
    ) -> list[_Refused]: ...
    def _idm(
        self,
        states: _States,
        mode: str | None,
        loads: tuple[str | None, str | None, float | None],
        threads: int | None,
        count: int,
        out: list[_Array],
    ) -> list[_Refused]: ...
    def _ddm(
        self, states: _States, mode: str | None, threads: int | None, count: int, out: list[_Array]
    ) -> list[_Refused]: ...
    def _frequencies(
        self,
        x: _Array,
        mode: str | None,
        actuators: str,
        threads: int | None,
        count: int,
        out: list[_Array],
    ) -> list[_Refused]: ...
    def _modes(self, actuators: str) -> int: ...
