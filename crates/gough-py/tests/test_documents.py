"""For every command: the JSON of the program is the answer in Python, key by key."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import program

import gough
from gough._asked import DDM_KEYS, IDM_KEYS

Ask = Callable[..., Any]


def equal(found: Any, wanted: Any) -> None:
    """Bit for bit, None as NaN."""
    wanted = np.asarray(wanted, dtype=float)
    assert np.array_equal(np.asarray(found, dtype=float), wanted, equal_nan=True), (found, wanted)


def at(document: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


def test_idm(answer: Ask) -> None:
    wanted = answer("idm", "five-bar", "--pose", "x=0.05,y=0.25", "--twist", "x=1", "--acceleration", "y=9.81")
    t = gough.robot("five-bar").idm([0.05, 0.25], [1.0, 0.0], [0.0, 9.81])
    for name, path in IDM_KEYS.items():
        found, expected = t[name], np.asarray(at(wanted, path))
        if name == "efforts":  # four states at a time take another road to the same numbers
            assert np.abs(found - expected).max() < 1e-12
        else:
            equal(found, expected)
    told = {path[0] for path in IDM_KEYS.values()}
    beside = {"pose", "near_singularities", "internal_load", "null_space", "working_mode", "twist", "acceleration"}
    assert set(wanted) == told | beside | {"robot", "active_joints", "passive_joints", "left_out"}


def test_idm_with_conditions(answer: Ask) -> None:
    words = ["--payload", "mass=2.5,com=0:0:0.05", "--wrench", "fx=10", "--friction-width", "0.1", "--twist", "x=0.3"]
    pose = "x=0.25,y=0.43,z=1,roll=0.1,pitch=0,yaw=0.2"
    wanted = answer("idm", "gough-stewart", "--pose", pose, *words, "--reactions", "--derivatives")
    r = gough.robot("gough-stewart")
    x, xd = [0.25, 0.43, 1.0, 0.1, 0.0, 0.2], [0.3, 0, 0, 0, 0, 0]
    loads: dict[str, Any] = {"payload": {"mass": 2.5, "com": (0.0, 0.0, 0.05)}, "wrench": {"fx": 10}}
    t = r.idm(x, xd, **loads, friction_width=0.1, reactions=True, derivatives=True)
    assert t.documents[0] == wanted
    assert t.reactions == wanted["reactions"] and t.derivatives == wanted["derivatives"]
    plain = r.idm(x, xd, **loads, friction_width=0.1)
    for name, path in IDM_KEYS.items():
        equal(t[name], at(wanted, path))
        equal(plain[name], at(wanted, path))


def test_idm_of_redundant_drives(answer: Ask) -> None:
    pose = ["--pose", "x=0.02,y=0.01,phi=0.1"]
    wanted = answer("idm", "dualv", *pose, "--share", "weights=1:2:1:1")
    found = gough.robot("dualv").idm([0.02, 0.01, 0.1], share="weights=1:2:1:1")
    assert found.documents[0] == wanted
    equal(found.efforts, wanted["efforts"])


def test_idm_of_a_flexible_robot(answer: Ask) -> None:
    wanted = answer("idm", "dual-emps", "--pose", "x=0.28,y=0.79", "--deflected")
    found = gough.robot("dual-emps").idm([0.28, 0.79], deflected=True)
    assert found.documents[0] == wanted
    equal(found.efforts, wanted["efforts"])
    rigid = answer("idm", "dual-emps", "--pose", "x=0.28,y=0.79", "--rigid")
    equal(gough.robot("dual-emps").idm([0.28, 0.79], rigid=True).ground_wrench, rigid["ground_wrench_on_robot"])


def test_ddm(answer: Ask) -> None:
    words = ["ddm", "five-bar", "--pose", "x=0.05,y=0.25", "--twist", "x=1", "--efforts", "q11=1"]
    r = gough.robot("five-bar")
    wanted, found = answer(*words), r.ddm([0.05, 0.25], [1, 0], [1, 0])
    for name, path in DDM_KEYS.items():
        assert np.abs(found[name] - at(wanted, path)).max() < 1e-9
    wanted = answer(*words, "--matrices", "--derivatives", "--friction")
    found = r.ddm([0.05, 0.25], [1, 0], [1, 0], matrices=True, derivatives=True, friction=True)
    assert found.documents[0] == wanted and found.derivatives == wanted["derivatives"]
    equal(found.acceleration, wanted["acceleration"])


def test_geometry(answer: Ask) -> None:
    wanted = answer("kinematics", "five-bar", "--pose", "x=0.05,y=0.25", "--mode", "all")
    r = gough.robot("five-bar")
    found, every = r.inverse_geometry([0.05, 0.25]), r.inverse_geometry([0.05, 0.25], mode="all")
    for part in ("active", "passive"):
        equal(found[part], wanted[part]["q"])
        equal(every[part], [mode[part]["q"] for mode in wanted["working_modes"]])
    assert every.working_modes.tolist() == [mode["name"] for mode in wanted["working_modes"]]
    assert bool(every.complete) is wanted["complete"]
    moving = answer("kinematics", "five-bar", "--pose", "x=0.05,y=0.25", "--twist", "x=1", "--acceleration", "y=2")
    k = r.kinematics([0.05, 0.25], [1, 0], [0, 2])
    for part in ("active", "passive"):
        for key, name in (("q", part), ("qd", f"{part}_qd"), ("qdd", f"{part}_qdd")):
            equal(k[name], moving[part][key])
    pose = ["--pose", "x=0.05,y=0.25"]
    assert r.matrices([0.05, 0.25], [1.0, 0.0]) == answer("kinematics", "five-bar", *pose, "--twist", "x=1", "--matrices")


def test_forward_geometry(answer: Ask) -> None:
    r = gough.robot("3-rpr")
    q = r.inverse_geometry(r.home).active
    words = ",".join(f"q{name}={value!r}" for name, value in zip(r.active_joints, q.tolist()))
    wanted, found = answer("kinematics", "3-rpr", "--joints", words), r.forward_geometry(q)
    assert found.count == len(wanted["assemblies"]) and bool(found.complete) is wanted["complete"]
    for k, assembly in enumerate(wanted["assemblies"]):
        equal(found.x[k], [*assembly["pose"]["p"][:2], assembly["pose"]["phi"]])
        equal(found.passive[k], assembly["passive"]["q"])


def test_frequencies(answer: Ask) -> None:
    pose = ["--pose", "x=0,y=0,phi=-1.0"]
    wanted = answer("frequencies", "navaro", *pose, "--count", "4", "--modes", "--sensitivity")
    r = gough.robot("navaro")
    plain = r.frequencies([0, 0, -1.0], count=4)
    # Frequencies alone need no vectors of whole groups: another road to the same numbers.
    assert np.abs(plain.hz / wanted["frequencies_hz"] - 1).max() < 1e-11
    assert np.abs(plain.omega2 / [mode["omega2"] for mode in wanted["modes"]] - 1).max() < 1e-11
    found = r.frequencies([0, 0, -1.0], count=4, energy=True, shapes=True, sensitivity=True)
    assert found.documents[0] == wanted
    assert found.sensitivity == wanted["sensitivities"] and found.energy == wanted["modes"]
    assert found.shapes == [mode["shape"] for mode in wanted["modes"]]


def test_map(answer: Ask) -> None:
    words = ["map", "navaro", "--quantity", "f1", "--region", "x=-0.6:0.6:7,y=-0.1:0.1:3", "--pose", "phi=-60deg"]
    wanted = answer(*words)
    found = gough.robot("navaro").map("f1", x=(-0.6, 0.6, 7), y=(-0.1, 0.1, 3), phi="-60 deg")
    assert found.document == wanted
    equal(found.values, wanted["values"])
    assert {name: axis.tolist() for name, axis in found.axes.items()} == {a["name"]: a["values"] for a in wanted["axes"]}
    assert 0 < found.ok.sum() < found.values.size


DOCUMENTS: list[tuple[str, str, dict[str, Any], list[str]]] = [
    ("check", "navaro", {}, []),
    ("singularities", "five-bar", {"pose": [0.05, 0.25]}, ["--pose", "x=0.05,y=0.25"]),
    ("parameters", "five-bar", {"without_friction": True}, ["--without-friction"]),
    ("simulate", "five-bar", {"from_": [0.05, 0.25], "time": 0.01}, ["--from", "x=0.05,y=0.25", "--time", "0.01"]),
    (
        "simulate",
        "five-bar",
        {"time": 0.01, "point": ["platform", "11=0.1:0:0"]},
        ["--time", "0.01", "--point", "platform", "--point", "11=0.1:0:0"],
    ),
    (
        "plan",
        "five-bar",
        {"from_": [0.0, 0.3], "to": [0.05, 0.25], "time": "0.5 s"},
        ["--from", "x=0,y=0.3", "--to", "x=0.05,y=0.25", "--time", "0.5 s"],
    ),
    (
        "response",
        "dual-emps",
        {"input": "fx", "output": "x", "points": 5},
        ["--input", "fx", "--output", "x", "--points", "5"],
    ),
]


@pytest.mark.parametrize(("command", "robot", "options", "words"), DOCUMENTS)
def test_documents(answer: Ask, command: str, robot: str, options: dict[str, Any], words: list[str]) -> None:
    found = getattr(gough.robot(robot), command)(**options)
    assert found == answer(command, robot, *words)
    assert found.to_dict() and json.dumps(found.to_dict())


def test_identify(answer: Ask) -> None:
    region = ["--region", "x=-0.05:0.05,y=0.25:0.33"]
    words = ["identify", "five-bar", "--excite", *region, "--harmonics", "2", "--trials", "1", "--period", "5"]
    options: dict[str, Any] = {"region": {"x": (-0.05, 0.05), "y": (0.25, 0.33)}, "harmonics": 2, "trials": 1, "period": 5}
    said = program(*words, "--json")
    try:
        found: Any = gough.robot("five-bar").identify(excite=True, **options)
    except gough.Error as why:
        assert json.loads(said.stdout)["error"]["message"] == str(why)
    else:
        assert found == json.loads(said.stdout)


def test_loci(answer: Ask) -> None:
    wanted = answer("singularities", "five-bar", "--region", "x=-0.2:0.2:7,y=0.15:0.35:7", "--accuracy", "1e-3")
    found = gough.robot("five-bar").loci({"x": (-0.2, 0.2, 7), "y": (0.15, 0.35, 7)}, accuracy=1e-3)
    assert found == wanted


def test_trajectory(answer: Ask, tmp_path: Path) -> None:
    r, file = gough.robot("five-bar"), str(tmp_path / "motion.json")
    plan = r.plan(from_=[0.0, 0.3], to=[0.05, 0.25], time=0.5)
    trajectory = plan.get("trajectory", plan.to_dict())
    (tmp_path / "motion.json").write_text(json.dumps(trajectory))
    said = program("idm", "five-bar", "--trajectory", file, "--json")
    try:
        found: Any = r.trajectory(file)
    except gough.Error as why:
        assert str(why) == json.loads(said.stdout)["error"]["message"]
    else:
        assert found == json.loads(said.stdout)


def test_codegen(answer: Ask, tmp_path: Path) -> None:
    wanted = answer("codegen", "five-bar", "--model", "idm", "--lang", "c", "-o", str(tmp_path / "c"))
    found = gough.robot("five-bar").codegen("idm", "c", output=tmp_path / "python")
    same = {key: value for key, value in found.items() if key not in ("files", "folder", "texts", "output")}
    assert same == {key: wanted[key] for key in same}
    texts = {path.name: path.read_text() for path in (tmp_path / "c").iterdir()}
    assert found["texts"] == texts and texts
    assert gough.robot("five-bar").codegen("idm", "c")["texts"] == texts


def test_what_is_refused_is_told_in_the_words_of_the_program() -> None:
    said = json.loads(program("frequencies", "navaro", "--pose", "x=3,y=0,phi=0", "--json").stdout)["error"]
    with pytest.raises(gough.OutOfReach) as why:
        gough.robot("navaro").frequencies([3, 0, 0])
    assert str(why.value) == said["message"] and why.value.leg == said["leg"] and why.value.by == said["by"]
    said = json.loads(program("kinematics", "navaro", "--pose", "x=3,y=0,phi=0", "--json").stdout)["error"]
    with pytest.raises(gough.OutOfReach, match=re.escape(said["message"])):
        gough.robot("navaro").inverse_geometry([3, 0, 0])
    said = json.loads(program("map", "navaro", "--quantity", "f", "--region", "x=0:1", "--json").stdout)["error"]
    with pytest.raises(gough.BadQuestion, match=re.escape(said["message"])):
        gough.robot("navaro").map("f", x=(0, 1))


ROBOT_OPTIONS = {"set", "actuation", "allow-outside", "json", "output", "degrees", "help"}
ELSEWHERE = {
    # Arrays have their own names; files of states are for `ask`; tables and text are the program's.
    "kinematics": {"pose", "joints", "states", "twist", "acceleration", "matrices", "modes", "columns"},
    "idm": {"pose", "states", "twist", "acceleration", "columns", "trajectory", "step", "csv", "plot"},
    "ddm": {"pose", "states", "twist", "columns"},
    "frequencies": {"pose", "modes"},
    "map": {"region", "pose"},
}


@pytest.mark.parametrize(
    "command",
    ["check", "kinematics", "singularities", "map", "idm", "ddm", "plan", "codegen", "simulate", "identify"]
    + ["parameters", "frequencies", "response"],
)
def test_every_option_has_a_name_in_python(command: str) -> None:
    text = program(command, "-h").stdout
    options = set(re.findall(r"^\s+(?:-\w, )?--([a-z0-9-]+)", text, re.M)) - ROBOT_OPTIONS - ELSEWHERE.get(command, set())
    method = getattr(gough.Robot, {"parameters": "dynamic_parameters"}.get(command, command))
    names = {name.rstrip("_").replace("_", "-") for name in inspect.signature(method).parameters}
    assert options <= names, options - names


def test_the_methods_of_documents_are_those_of_the_program() -> None:
    import runpy

    tool = Path(__file__).resolve().parents[1] / "tools/commands.py"
    made = runpy.run_path(str(tool))
    assert made["text"]() == (Path(gough.__file__).parent / "_commands.py").read_text()


def test_the_reference_of_the_book_is_made_of_the_docstrings() -> None:
    import runpy

    tool = Path(__file__).resolve().parents[1] / "tools/reference.py"
    made = runpy.run_path(str(tool))
    assert made["text"]() == made["FILE"].read_text(), "write it again: python crates/gough-py/tools/reference.py"


def test_the_program_of_the_wheel() -> None:
    assert program("--version").stdout.strip() == f"gough {gough.__version__}"
    assert program("kinematics", "navaro", "--pose", "x=3,y=0,phi=0").returncode == 1
    assert program("nonsense").returncode == 2
