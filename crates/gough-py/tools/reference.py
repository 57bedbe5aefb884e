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


def entry(name: str, thing: Any, level: int) -> str:
    told = fenced(inspect.getdoc(thing) or "")
    return f"\n{'#' * level} {name}\n\n{told}\n" if told else ""


def members(kind: type) -> list[tuple[str, Any]]:
    own = [(n, inspect.getattr_static(kind, n)) for n in dir(kind) if not n.startswith("_")]
    known = [(n, t) for n, t in own if inspect.getdoc(t) and not hasattr(dict, n)]
    return [(n, t) for n, t in known if not (isinstance(t, type) or n in ("with_traceback", "add_note", "args"))]


def text() -> str:
    page = HEAD
    for name in gough.__all__:
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
