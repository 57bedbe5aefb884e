"""Documents: the JSON answers of the program, as they are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import Error, refusal
from ._results import _near, html_table, text_table

if TYPE_CHECKING:
    from ._native import Robot


class Document(Mapping[str, Any]):
    """An answer of the program: the document that `--json` prints, key by key.

    `document["key"]` is what JSON has there; `document.key` is the same, lists of numbers as arrays.
    """

    __slots__ = ("_command", "_keys")

    def __init__(self, command: str, keys: dict[str, Any]) -> None:
        self._command = command
        self._keys = keys

    def __getitem__(self, key: str) -> Any:
        return self._keys[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._keys:
            known = [] if name.startswith("_") else list(self._keys)
            raise AttributeError(f"the document has no `{name}`{_near(name, known)}")
        return shown(self._keys[name])

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._keys]

    def to_dict(self) -> dict[str, Any]:
        """The document itself."""
        return self._keys

    def _table(self) -> tuple[str, list[str], list[list[str]]]:
        lines = [[key, _short(value)] for key, value in self._keys.items()]
        return f"{self._command} of {self._keys.get('robot', '')}", ["", "value"], lines

    def __repr__(self) -> str:
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())

    def __getstate__(self) -> tuple[str, dict[str, Any]]:
        return self._command, self._keys

    def __setstate__(self, state: tuple[str, dict[str, Any]]) -> None:
        self._command, self._keys = state


def shown(value: Any) -> Any:
    """Lists of numbers as arrays, documents within documents as documents."""
    if isinstance(value, dict):
        return Document("part", value)
    if isinstance(value, list) and value and not isinstance(value[0], dict | str):
        try:
            array = np.asarray(value, dtype=np.float64)
        except (ValueError, TypeError):
            return value
        return array
    return value


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 72 else text[:69] + "..."


def _shipped_name(robot: Robot) -> str:
    return robot._source[0]


def ask(robot: Robot, command: str, words: Sequence[Sequence[str]], threads: int | None = None) -> list[Any]:
    """Answers of the program to these lists of words, each a document or the error that it ended with."""
    head = ["gough", command, "--json"]
    name = _shipped_name(robot)
    # A name that begins with a dash is a name all the same.
    questions = [[*head, *own, "--", name] for own in words]
    return [_read(command, *said) for said in robot._ask(questions, threads)]


def _read(command: str, status: int, out: str, err: str) -> Document | Error:
    try:
        found = json.loads(out)
    except ValueError:
        found = {"error": {"kind": "usage", "message": err.strip() or "no answer"}}
    if "error" not in found:
        return Document(command, found)
    why: dict[str, Any] = found["error"]
    facts: dict[str, Any] = {key: value for key, value in why.items() if key not in ("kind", "message")}
    if "faults" in found:
        facts["faults"] = found["faults"]
    return refusal(why["kind"], why["message"], json.dumps(facts), status)


def one(robot: Robot, command: str, words: Sequence[str]) -> Document:
    """The answer of the program; what it refuses is raised."""
    (found,) = ask(robot, command, [words])
    if isinstance(found, Error):
        raise found
    document: Document = found
    return document
