"""The examples run as notebooks would, and draw what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    pytest.importorskip("scipy")
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run([sys.executable, str(example), str(tmp_path)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    picture = (tmp_path / f"{example.stem}.png").read_bytes()
    assert picture.startswith(b"\x89PNG") and len(picture) > 10_000
