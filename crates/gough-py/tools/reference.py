"""Writes docs/src/reference/python.md from the docstrings of the package.

    python tools/reference.py [--check]
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import gough

FILE = Path(__file__).resolve().parents[3] / "docs/src/reference/python.md"
HEAD = """<!-- Written by crates/gough-py/tools/reference.py. -->
# Python package

Names of the package `gough`, from their docstrings; `help(gough.Robot.idm)` shows them too. How to begin: [From Python](../guide/from-python.md).
"""


def fenced(text: str) -> str:
    """Examples and lists of arguments as code."""
    out: list[str] = []
    code = False
    for line in text.splitlines():
        inside = line.startswith((">>>", "    ", "...")) or (code and line.strip() != "" and not line.endswith(":"))
        if inside != code:
            out += ["```text" if inside else "```"] if inside else ["```", ""]
        code = inside
        out.append(line)
    return "\n".join([*out, "```"] if code else out)


def call(thing: Any) -> str:
    """Names of the arguments, with `=` where they may be left out."""
    if not inspect.isfunction(thing):
        return ""
    words, apart = [], False
    for name, parameter in inspect.signature(thing).parameters.items():
        if name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not apart:
            words.append("*")
            apart = True
        stars = {parameter.VAR_KEYWORD: "**", parameter.VAR_POSITIONAL: "*"}.get(parameter.kind, "")
        words.append(stars + name + ("" if parameter.default is parameter.empty else "="))
    return f"({', '.join(words)})"


def entry(name: str, thing: Any, level: int) -> str:
    told = fenced(inspect.getdoc(thing) or "")
    return f"\n{'#' * level} `{name}{call(thing)}`\n\n{told}\n" if told else ""


def members(kind: type) -> list[tuple[str, Any]]:
    """What a class has by itself; a robot what all its parts in Python have."""
    of = [c for c in kind.__mro__ if c.__module__.startswith("gough.") and "native" not in c.__module__]
    own = {name: thing for c in reversed(of if kind is gough.Robot else of[:1]) for name, thing in vars(c).items()}
    return [(n, t) for n, t in own.items() if not n.startswith("_") and inspect.getdoc(t) and not isinstance(t, str)]


def text() -> str:
    page = HEAD
    first = ["robot", "load", "from_text", "robots", "Robot", "Pose"]
    for name in [*first, *(name for name in gough.__all__ if name not in first)]:
        thing = getattr(gough, name)
        if isinstance(thing, str):
            continue
        page += entry(f"gough.{name}", thing, 2)
        if inspect.isclass(thing) and not issubclass(thing, tuple):
            page += "".join(entry(f"{name}.{member}", of, 3) for member, of in members(thing))
    return page


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if FILE.read_text() == text() else f"{FILE} is not what tools/reference.py writes")
    FILE.write_text(text())
