"""What tests share: the reference files of the robots, and the program."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROBOTS = Path(__file__).resolve().parents[3] / "robots"
SIX = ["3-rpr", "dualv", "five-bar", "gough-stewart", "orthoglide", "tripteron"]


def reference(name: str) -> dict[str, Any]:
    """The reference file of a robot."""
    found: dict[str, Any] = json.loads((ROBOTS / name / "reference.json").read_text())
    return found


def program(*words: str) -> subprocess.CompletedProcess[str]:
    """The program of the wheel."""
    return subprocess.run([sys.executable, "-m", "gough_command", *words], capture_output=True, text=True, check=False)


@pytest.fixture
def answer() -> Callable[..., Any]:
    """The document that the program prints."""

    def ask(*words: str) -> Any:
        said = program(*words, "--json")
        assert said.returncode == 0, said.stderr
        return json.loads(said.stdout)

    return ask
