"""Robots: where they come from, what they are, what is wrong with them."""

from __future__ import annotations

import copy
import os
import pickle
import platform
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROBOTS

import gough
import gough_command
from gough import _native

TEXT = (ROBOTS / "five-bar/robot.toml").read_text()
# Where a page is filled.
PLACE = "/*GIVEN*/"


def test_shipped_robots() -> None:
    assert {path.parent.name for path in ROBOTS.glob("*/robot.toml")} == set(gough.robots())
    with pytest.raises(gough.BadQuestion, match="no shipped robot is called `navarro`; did you mean `navaro`"):
        gough.robot("navarro")


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(TEXT)
    r = gough.load(file, set={"d13": "19 cm", "m4": 0.3})
    assert r.parameters["d13"].value == 0.19 and r.parameters["m4"].value == 0.3
    assert np.isfinite(r.idm([0.05, 0.25]).efforts).all()
    file.unlink()
    assert pickle.loads(pickle.dumps(r)) == r
    with pytest.raises(gough.BadQuestion, match=r"cannot read .*mine.toml"):
        gough.load(file)
    with pytest.raises(gough.BadQuestion, match="cannot read"):
        gough.load(tmp_path)
    beside = gough.load(ROBOTS / "gough-stewart-flexible/robot.toml")
    assert beside.frequencies(count=2).hz.shape == (2,)
    assert pickle.loads(pickle.dumps(beside)).frequencies(count=2).hz.tolist() == beside.frequencies(count=2).hz.tolist()


def test_faults_have_places() -> None:
    with pytest.raises(gough.BadRobot) as why:
        gough.from_text(TEXT.replace("joint", "jiont"), name="typo.toml")
    faults = why.value.faults
    assert len(faults) > 1 and all(f.line > 1 and f.column >= 1 for f in faults)
    assert any(f.suggestion and "joint" in f.suggestion for f in faults)
    assert str(why.value).startswith("typo.toml:") and pickle.loads(pickle.dumps(why.value)).faults == faults
    with pytest.raises(gough.BadRobot):
        gough.from_text("not a robot at all")
    with pytest.raises(gough.BadRobot) as unit:
        gough.robot("five-bar", set={"d13": "19 kg"})
    assert unit.value.faults
    with pytest.raises(gough.BadRobot):
        gough.robot("five-bar", set={"nothing": 1.0})
    with pytest.raises(gough.BadQuestion, match="nan"):
        gough.robot("five-bar", set={"d13": float("nan")})
    with pytest.raises(gough.BadRobot):
        gough.robot("navaro", actuation="links-99")


def test_equal_hash_and_pickle() -> None:
    a, b = gough.robot("five-bar"), gough.robot("five-bar", set={"d13": "19 cm"})
    assert a == gough.robot("five-bar") and hash(a) == hash(gough.robot("five-bar")) and a != b and a != "five-bar"
    for r in (a, b, gough.robot("navaro")):
        again = pickle.loads(pickle.dumps(r))
        assert again == r and copy.deepcopy(r) == r
        assert again.frequencies if r.name == "navaro" else np.array_equal(again.idm(r.home).efforts, r.idm(r.home).efforts)
    t = a.idm([[0.05, 0.25], [3.0, 0.0]])
    kept = pickle.loads(pickle.dumps(t))
    assert np.array_equal(kept.efforts, t.efforts, equal_nan=True) and kept.refused == t.refused
    assert np.array_equal(kept.kinetic_energy, t.kinetic_energy, equal_nan=True)
    document = a.check()
    assert pickle.loads(pickle.dumps(document)) == document


def test_a_robot_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pickled = pickle.dumps(gough.robot("five-bar"))
    other = pickled.replace(_native.version.encode(), b"9" + _native.version.encode()[1:])
    with pytest.raises(gough.Error, match="was pickled by gough 9"):
        pickle.loads(other)


def test_parameters() -> None:
    r = gough.robot("five-bar")
    longer = r.with_parameters(d13=0.19).with_parameters(d13="20 cm", m4=0.1)
    assert longer.parameters["d13"].value == 0.2 and longer.parameters["d12"] == r.parameters["d12"]
    assert longer == r.with_parameters(d13="20 cm", m4=0.1)
    with pytest.raises(KeyError, match="no parameter `d133`; did you mean `d13`"):
        r.with_parameters(d133=1.0)
    assert "d13" in repr(r.parameters) and "<table>" in r.parameters._repr_html_()
    assert r.parameters(without_friction=True)["robot"] == "five-bar"


def test_actuation() -> None:
    r = gough.robot("navaro", actuation="links-2")
    assert r.active_joints == ["12", "22", "32"] and gough.robot("navaro").active_joints == ["11", "21", "31"]


def test_cards() -> None:
    for name in ("navaro", "gough-stewart"):
        html = gough.robot(name)._repr_html_()
        assert "<svg" in html and html.count("<line") > 10 and "mobility" in html and "parameters" in html
    r = gough.robot("delta")
    assert repr(r).startswith("<gough.Robot delta: platform x, y, z; 3 drives (11, 21, 31)")


def test_reports(tmp_path: Path) -> None:
    page = gough.robot("five-bar").report(output=tmp_path / "report.html", no_view=True)
    assert page.document["parts"] and page.file.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html")


def test_the_viewer(tmp_path: Path) -> None:
    r = gough.robot("delta")
    try:
        page = r.view(output=tmp_path / "delta.html")
    except gough.BadQuestion as why:
        assert "cargo xtask viewer" in str(why)  # the page is built apart
    else:
        assert page.file.stat().st_size == page.document["bytes"] and "<iframe srcdoc=" in page._repr_html_()
        table = tmp_path / "motion.csv"
        table.write_text("t,x,y,z\n0,0,0,-0.6\n0.5,0.05,0,-0.6\n1,0.05,0.05,-0.65\n")
        page = r.view(trajectory=table, map="conditioning,x=-0.1:0.1:5,y=-0.1:0.1:5", output=tmp_path / "moving.html")
        text = page.file.read_text(encoding="utf-8")
        assert '"quantity":"conditioning"' in text and '"efforts":[[' in text


def test_documents_are_mappings() -> None:
    found = gough.robot("five-bar").singularities(pose=[0.05, 0.25])
    assert found.pose.p.tolist() == found["pose"]["p"] and "length_scale" in dir(found)
    assert dict(found) == found.to_dict() and "singularities of five-bar" in repr(found) and "<table>" in found._repr_html_()
    with pytest.raises(AttributeError, match="did you mean `length_scale`"):
        found.length_scal
    with pytest.raises(gough.BadQuestion, match="unexpected argument"):
        gough.robot("five-bar").ask("idm", posse="x=1")


def test_processors(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    new.write_text("processor: 0\nflags\t\t: fpu sse2 fma avx avx2\n")
    old.write_text("processor: 0\nflags\t\t: fpu sse2 avx\n")
    assert gough_command.has_avx2(new) and gough_command.has_avx2(tmp_path / "nothing")
    assert not gough_command.has_avx2(old) or platform.machine() not in ("x86_64", "AMD64")
    suffix = EXTENSION_SUFFIXES[-1]
    with pytest.raises(ImportError, match="is missing"):
        gough_command.native_file(tmp_path, True)
    fast, any_of = tmp_path / f"_native{suffix}", tmp_path / f"_native_baseline{suffix}"
    fast.write_text("")
    assert gough_command.native_file(tmp_path, True) == fast
    with pytest.raises(ImportError, match="which this one lacks"):
        gough_command.native_file(tmp_path, False)
    any_of.write_text("")
    assert gough_command.native_file(tmp_path, False) == any_of and gough_command.native_file(tmp_path, True) == fast


def test_the_page_of_the_wheel_is_the_one_that_is_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOUGH_VIEWER", raising=False)
    gough_command.take_page(tmp_path)
    assert "GOUGH_VIEWER" not in os.environ
    (tmp_path / "viewer").mkdir()
    page = tmp_path / "viewer" / "page.html"
    page.write_text(f"<p>a page</p>{PLACE}")
    monkeypatch.setenv("GOUGH_VIEWER", "")
    monkeypatch.delenv("GOUGH_VIEWER")
    gough_command.take_page(tmp_path)
    found = gough.robot("five-bar").view(output=tmp_path / "out.html").file.read_text(encoding="utf-8")
    assert found.startswith("<p>a page</p>") and PLACE not in found and "five-bar" in found
    monkeypatch.setenv("GOUGH_VIEWER", str(tmp_path / "nowhere"))
    gough_command.take_page(tmp_path)  # what is named stays
    with pytest.raises(gough.BadQuestion, match="not built"):
        gough.robot("five-bar").view(output=tmp_path / "out.html")


def test_errors_are_one_family() -> None:
    for kind in (gough.BadQuestion, gough.BadRobot, gough.NoAnswer, gough.OutOfReach, gough.OutOfRange, gough.Singular):
        assert issubclass(kind, gough.Error)
    assert issubclass(gough.BadQuestion, ValueError) and issubclass(gough.Singular, gough.NoAnswer)
    r = gough.robot("five-bar")
    with pytest.raises(gough.OutOfReach) as why:
        r.idm([3.0, 0.0])
    again: Any = pickle.loads(pickle.dumps(why.value))
    assert (str(again), again.by, again.leg) == (str(why.value), why.value.by, why.value.leg)
