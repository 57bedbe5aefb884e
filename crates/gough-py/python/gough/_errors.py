"""Refusals: one base class, and a class for each kind that a program may want to tell apart."""

from __future__ import annotations

import json
from typing import Any, NamedTuple


class Fault(NamedTuple):
    """A fault of a robot file."""

    code: str
    """A short name that programs can rely on."""
    message: str
    """What is wrong."""
    line: int
    """Line of the file, from 1."""
    column: int
    """Column in the line, from 1."""
    suggestion: str | None
    """What to do about it."""


class Error(Exception):
    """Why a question has no answer; its text says what to do next.

    `kind` is a short name that programs can rely on, the one in the JSON documents of the program.
    """

    kind: str
    facts: dict[str, Any]

    def __init__(self, message: str = "", kind: str = "usage", facts: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.facts = facts or {}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0] if self.args else "", self.kind, self.facts)


class BadQuestion(Error, ValueError):
    """The question cannot be asked so: other numbers, names or options are needed."""


class NoAnswer(Error):
    """The question has no answer there."""

    @property
    def leg(self) -> str | None:
        """The leg, where one is to blame."""
        leg: str | None = self.facts.get("leg")
        return leg


class OutOfReach(NoAnswer):
    """A leg cannot reach its place on the platform, or the loops stay open."""

    @property
    def by(self) -> float | None:
        """By how much, in metres."""
        by: float | None = self.facts.get("by")
        return by


class OutOfRange(NoAnswer):
    """A joint would leave its range."""

    @property
    def joint(self) -> str | None:
        """The joint."""
        joint: str | None = self.facts.get("joint")
        return joint


class Singular(NoAnswer):
    """What is asked is not determined at a singularity; `kind` is type1, type2, lpjts or constraint."""

    @property
    def twist(self) -> list[float] | None:
        """The twist of the platform, in world axes, that nothing resists."""
        twist: list[float] | None = self.facts.get("twist")
        return twist


class BadRobot(Error):
    """A robot file has faults."""

    @property
    def faults(self) -> list[Fault]:
        """All of them."""
        names = ("code", "message", "line", "column", "suggestion")
        return [Fault(*(fault.get(name) for name in names)) for fault in self.facts.get("faults", [])]


_MISUSE = {"usage", "output", "unknown-mode", "wrong-count", "not-a-pose"}
_CLASSES: dict[str, type[Error]] = {
    "out-of-reach": OutOfReach,
    "no-assembly": OutOfReach,
    "out-of-range": OutOfRange,
    "type1": Singular,
    "type2": Singular,
    "lpjts": Singular,
    "constraint": Singular,
    "bad-robot": BadRobot,
}


def refusal(kind: str, message: str, facts: str, status: int | None = None) -> Error:
    """The exception of a refusal: its kind, its words, and what it knows, as JSON."""
    wrong = kind in _MISUSE if status is None else status == 2
    made = _CLASSES.get(kind, BadQuestion if wrong else NoAnswer)
    return made(message, kind, json.loads(facts))


class Refusal:
    """A state without an answer, of many."""

    __slots__ = ("_facts", "index", "kind", "message")

    index: tuple[int, ...]
    """Place of the state in the leading axes."""
    kind: str
    """A short name that programs can rely on."""
    message: str
    """Why, and what to do next."""

    def __init__(self, index: tuple[int, ...], kind: str, message: str, facts: str) -> None:
        self.index = index
        self.kind = kind
        self.message = message
        self._facts = facts

    @property
    def leg(self) -> str | None:
        """The leg, where one is to blame."""
        leg: str | None = json.loads(self._facts).get("leg")
        return leg

    @property
    def by(self) -> float | None:
        """How far it is out of reach, in metres."""
        by: float | None = json.loads(self._facts).get("by")
        return by

    @property
    def error(self) -> Error:
        """The exception that this state alone would raise."""
        return refusal(self.kind, self.message, self._facts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Refusal):
            return NotImplemented
        mine = (self.index, self.kind, self.message, self._facts)
        return mine == (other.index, other.kind, other.message, other._facts)

    def __hash__(self) -> int:
        return hash((self.index, self.kind, self.message))

    def __reduce__(self) -> tuple[Any, ...]:
        return Refusal, (self.index, self.kind, self.message, self._facts)

    def __repr__(self) -> str:
        return f"Refusal({self.index}, {self.kind!r}, {self.message!r})"
