"""Writes python/gough/_commands.py: one method per command of the program whose answer is a document, from its `-h`.

    python tools/commands.py [--check]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from gough_command import native

FILE = Path(__file__).resolve().parents[1] / "python/gough/_commands.py"
COMMANDS = {
    "check": "check",
    "singularities": "singularities",
    "plan": "plan",
    "simulate": "simulate",
    "parameters": "dynamic_parameters",
    "identify": "identify",
    "response": "response",
}
ROBOTS = {"set", "actuation", "allow-outside", "json", "degrees", "help"}
KEYWORDS = {"from"}
WIDTH = 120

HEAD = '''"""Commands of the program whose answers are documents. Written by `tools/commands.py`; do not edit."""

from __future__ import annotations

from . import _native
from ._documents import Document, one
from ._words import Value, options


class Commands(_native.Robot):
    """One method per command, with its options by name; every answer is the document of `--json`."""
'''


def helped(command: str) -> tuple[str, list[tuple[str, bool, str]]]:
    """What a command is, and its options: name, whether it takes a value, what it is."""
    _, text, _ = native().ask(["gough", command, "-h"])
    found: list[tuple[str, bool, str]] = []
    for line in text.split("Options:")[1].splitlines():
        begun = re.match(r"\s+(?:-\w, )?--([a-z0-9-]+)( [<\[][^ ]*(?: [^ ]+>)?)?\s*(.*)$", line)
        # The file of the answer: `-o, --output <FILE>`, or `-o <FILE>` where `--output` is something else.
        if re.match(r"\s+-o(?:, --output)? <FILE>", line):
            found.append(("", True, ""))
        elif begun:
            found.append((begun[1], begun[2] is not None, begun[3].strip()))
        elif found and line.strip():
            name, takes, words = found[-1]
            found[-1] = (name, takes, f"{words} {line.strip()}".strip())
    summary = " ".join(text.split("\n\n")[0].split())
    return summary, [option for option in found if option[0] and option[0] not in ROBOTS]


def python(option: str) -> str:
    name = option.replace("-", "_")
    return name + "_" if name in KEYWORDS else name


def wrapped(name: str, words: str) -> list[str]:
    lines, line = [], f"            {name}:"
    for word in words.split():
        if len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line = " " * 16 + word
        else:
            line += " " + word
    return [*lines, line]


def method(command: str, name: str) -> str:
    summary, all_options = helped(command)
    lines = [f"    def {name}(", "        self,"]
    if all_options:
        lines.append("        *,")
    for option, takes, _ in all_options:
        lines.append(f"        {python(option)}: " + ("Value = None," if takes else "bool = False,"))
    lines += ["    ) -> Document:", f'        """{summary.replace(chr(92), "")}.', ""]
    lines.append(f"        The answer is the document of `gough {command} --json`.")
    if all_options:
        lines += ["", "        Args:"]
        for option, _, words in all_options:
            lines += wrapped(python(option), words.replace("\\", ""))
    lines.append('        """')
    given = ", ".join(f'"{python(option)}": {python(option)}' for option, _, _ in all_options)
    call = f"        given: dict[str, object] = {{{given}}}"
    if len(call) > WIDTH:
        pairs = [f'            "{python(option)}": {python(option)},' for option, _, _ in all_options]
        call = "\n".join(["        given: dict[str, object] = {", *pairs, "        }"])
    lines += [call, f'        return one(self, "{command}", options(self, given))']
    return "\n".join(lines) + "\n"


def text() -> str:
    return HEAD + "".join("\n" + method(command, name) for command, name in COMMANDS.items())


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if FILE.read_text() == text() else "python/gough/_commands.py is not what tools/commands.py writes")
    FILE.write_text(text())
