"""Every number of the reference files, to the tolerance that the library is held to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import SIX, reference

import gough


def wrapped(robot: gough.Robot, name: str, found: Any, wanted: Any) -> Any:
    """Differences, angles within one turn."""
    units = robot.inverse_geometry(robot.home).units[name]
    off = np.asarray(found) - np.asarray(wanted)
    turns = np.asarray([unit == "rad" for unit in units])
    return np.where(turns, (off + np.pi) % (2 * np.pi) - np.pi, off)


def close(found: Any, wanted: Any, tolerance: float) -> None:
    """As the library's tests: relative to the largest of every list, which counts as 1e-3 at least."""
    found, wanted = np.atleast_2d(found), np.atleast_2d(wanted)
    scale = np.maximum(np.abs(wanted).max(axis=-1, keepdims=True), 1e-3)
    assert (np.abs(found - wanted) <= tolerance * scale).all()


def states(name: str) -> tuple[gough.Robot, list[dict[str, Any]], gough.Pose]:
    robot, list_of = gough.robot(name), reference(name)["states"]
    assert len(list_of) >= 5
    p = np.array([s["pose"]["p"] for s in list_of])
    return robot, list_of, gough.Pose(position=p, rotation=np.array([s["pose"]["R"] for s in list_of]))


def column(list_of: list[dict[str, Any]], *path: str) -> Any:
    values: list[Any] = list_of
    for key in path:
        values = [value[key] for value in values]
    return np.array(values)


@pytest.mark.parametrize("name", SIX)
def test_joints(name: str) -> None:
    robot, list_of, x = states(name)
    data = reference(name)
    assert (robot.active_joints, robot.passive_joints) == (data["active_joints"], data["passive_joints"])
    found = robot.inverse_geometry(x)
    for part in ("active", "passive"):
        assert np.abs(wrapped(robot, part, found[part], column(list_of, part, "q"))).max() < 1e-10


@pytest.mark.parametrize("name", SIX)
def test_rates_and_accelerations(name: str) -> None:
    robot, list_of, x = states(name)
    found = robot.kinematics(x, column(list_of, "twist"), column(list_of, "acceleration"))
    for part in ("active", "passive"):
        for key in ("qd", "qdd"):
            close(found[f"{part}_{key}"], column(list_of, part, key), 1e-10)


@pytest.mark.parametrize("name", SIX)
def test_poses_from_motors(name: str) -> None:
    robot, list_of, _ = states(name)
    # A search for forty assemblies takes long in a module that is not optimised.
    list_of = list_of[: 1 if name == "gough-stewart" else len(list_of)]
    found = robot.forward_geometry(column(list_of, "active", "q"))
    for i, state in enumerate(list_of):
        R = np.array(state["pose"]["R"])
        wanted = robot.inverse_geometry(gough.Pose(position=state["pose"]["p"], rotation=R)).active
        places = found.x[i, : found.count[i]]
        back = robot.inverse_geometry(places)
        near = [k for k in range(len(places)) if _distance(robot, places[k], state) < 1e-9]
        assert near, f"{name} state {i}"
        assert np.abs(wrapped(robot, "active", back.active[near[0]], wanted)).max() < 1e-8
    assert (found.complete == (name != "gough-stewart")).all()


def _distance(robot: gough.Robot, place: Any, state: dict[str, Any]) -> float:
    pose = np.asarray(robot._coordinates_of(_row(state)))[0]
    off = place - pose
    angles = np.array([c in ("roll", "pitch", "yaw", "phi") for c in robot.coordinates])
    off = np.where(angles, (off + np.pi) % (2 * np.pi) - np.pi, off)
    return float(np.abs(off).max())


def _row(state: dict[str, Any]) -> Any:
    return np.concatenate([state["pose"]["p"], np.ravel(state["pose"]["R"])]).reshape(1, 12)


@pytest.mark.parametrize("name", SIX)
def test_efforts_energies_and_accelerations(name: str) -> None:
    robot, list_of, x = states(name)
    twist, acceleration = column(list_of, "twist"), column(list_of, "acceleration")
    found = robot.idm(x, twist, acceleration)
    close(found.efforts, column(list_of, "efforts"), 1e-9)
    if "efforts_with_friction" in list_of[0]:
        close(found.efforts_with_friction, column(list_of, "efforts_with_friction"), 1e-9)
    for energy in ("kinetic_energy", "kinetic_energy_rotors", "potential_energy"):
        close(found[energy][:, None], column(list_of, energy)[:, None], 1e-9)
    close(found.ground_wrench, column(list_of, "ground_wrench_on_robot"), 1e-9)
    back = robot.ddm(x, twist, column(list_of, "efforts"))
    close(back.acceleration, acceleration, 1e-9)
    close(back.passive_qdd, column(list_of, "passive", "qdd"), 1e-9)
    other = robot.ddm(x, twist, column(list_of, "ddm_other_efforts", "efforts"))
    for key in ("acceleration", "active_qdd", "passive_qdd"):
        close(other[key], column(list_of, "ddm_other_efforts", key), 1e-9)


def test_navaro() -> None:
    robot, poses = gough.robot("navaro"), reference("navaro")["poses"]
    x = np.array([[p["pose"]["x"], p["pose"]["y"], p["pose"]["phi"]] for p in poses])
    joints = robot.inverse_geometry(x)
    for i, p in enumerate(poses):
        for leg, wanted in enumerate(p["joints"]):
            found = np.array([joints[f"q{leg + 1}{j}"][i] for j in range(1, 6)])
            off = (found - wanted + np.pi) % (2 * np.pi) - np.pi
            assert np.abs(off).max() < 1e-12
    found = robot.frequencies(x, count="all", actuators="locked")
    assert found.hz.shape == (8, 90)
    five = robot.frequencies(x, count=5, actuators="locked").hz
    for i, p in enumerate(poses):
        printed, wanted = np.array(p["printed_hz"]), np.array(p["frequencies_hz"])
        assert np.abs(found.hz[i, : len(printed)] - printed).max() < 0.00501
        assert np.abs(found.hz[i, : len(wanted)] / wanted - 1).max() < 1e-9
        assert np.abs(five[i] / found.hz[i, :5] - 1).max() < 1e-10


def test_the_refined_navaro() -> None:
    robot = gough.robot("navaro-refined")
    farthest = 0.0
    for p in reference("navaro-refined")["poses"]:
        hz = robot.frequencies([0.0, 0.0, p["pose"]["phi"]], count="all").hz
        assert hz.shape == (96,)
        assert np.abs(hz[: len(p["same_data_hz"])] - p["same_data_hz"]).max() < 0.0101
        calculated = [f for f in p["calculated_hz"] if f is not None]
        farthest = max([farthest, *(np.abs(hz / f - 1).min() for f in calculated)])
    assert 0.05 < farthest < 0.10


def test_dual_emps_at_home() -> None:
    robot, data = gough.robot("dual-emps"), reference("dual-emps")["frequencies"]
    home = robot.inverse_geometry(robot.home)
    for part in ("active", "passive"):
        assert np.abs(wrapped(robot, part, home[part], data["nominal"][part])).max() < 1e-12
    places = robot.forward_geometry([0.0, 0.0])
    assert places.complete and places.count == 2
    assert np.abs(places.x[:, :2] - data["nominal"]["point"]).max(axis=1).min() < 1e-12
    hz = robot.frequencies(count="all", actuators="locked").hz
    assert np.abs(hz / data["nominal"]["locked_hz"] - 1).max() < 1e-8
    off = np.abs(hz[:6] / data["printed"]["model"] - 1)
    assert (off < [0.003, 0.003, 0.003, 0.007, 0.015, 0.04]).all()


def test_the_flexible_five_bar() -> None:
    wanted = reference("five-bar-flexible")["poses"][0]["frequencies_hz"]
    hz = gough.robot("five-bar-flexible").frequencies(count="all").hz
    assert np.abs(hz / wanted - 1).max() < 1e-10


def test_heli4() -> None:
    data, robot = reference("heli4"), gough.robot("heli4")
    joints = robot.inverse_geometry([p["p"] for p in data["poses"]])
    for i, p in enumerate(data["poses"]):
        for leg, degrees in enumerate(p["q_deg"]):
            found = np.array([joints[f"q{leg + 1}{j}"][i] for j in range(1, 4)])
            off = (found - np.radians(degrees) + np.pi) % (2 * np.pi) - np.pi
            assert np.abs(off).max() < 1e-9
    found = robot.frequencies([0.0, 0.0, -0.625], count="all", method="cartesian")
    assert np.abs(found.hz / data["f_flex"] - 1).max() < 1e-9
    without = gough.robot("heli4", set={"end_effector": 0.0})
    for p in data["poses"]:
        hz = without.frequencies(p["p"], count="all", method="cartesian").hz
        assert np.abs(hz / p["f_flex6_noKE"] - 1).max() < 1e-9
        exact = without.frequencies(p["p"], count="all", method="cartesian", rods="exact").hz
        assert np.abs(exact / p["f_flex6_noKE_exact_rods"] - 1).max() < 1e-9


def largest(found: Any, wanted: Any, tolerance: float) -> None:
    """Relative to the largest number that is wanted."""
    found, wanted = np.asarray(found, dtype=float), np.asarray(wanted, dtype=float)
    assert (np.abs(found - wanted) <= tolerance * np.abs(wanted).max()).all()


def test_states_of_the_flexible_dual_emps(tmp_path: Path) -> None:
    robot, list_of = gough.robot("dual-emps"), reference("dual-emps")["states"]
    asked = [
        {
            "active": {
                "q": s["position"]["active"],
                "qd": s["rate"]["active"],
                "qdd": s["inverse"]["active_qdd_desired"],
            },
            "elastic": {"q": s["position"]["elastic"], "qd": s["rate"]["elastic"]},
        }
        for s in list_of
    ]
    file = tmp_path / "states.json"
    file.write_text(json.dumps(asked))
    found = robot.ask("idm", states=file)["states"]
    for s, one in zip(list_of, found):
        wanted = s["inverse"]["frictionless"]
        largest(one["efforts"], wanted["efforts"], 1e-10)
        largest(one["elastic_qdd"], wanted["elastic_qdd"], 1e-10)
        largest([one["kinetic_energy"]], [s["kinetic_energy"]], 1e-11)
        largest([one["elastic_energy"]], [s["elastic_energy"]], 1e-11)


def test_states_of_the_flexible_platform(tmp_path: Path) -> None:
    robot, list_of = gough.robot("gough-stewart-flexible"), reference("gough-stewart-flexible")["states"]
    asked = [
        {
            "pose": {"p": s["pose"]["p"], "R": s["pose"]["R"]},
            "twist": s["twist"],
            "acceleration": s["inverse"]["acceleration"],
            "elastic": {"q": s["modal"]["q"], "qd": s["modal"]["qd"]},
        }
        for s in list_of
    ]
    file = tmp_path / "states.json"
    file.write_text(json.dumps(asked))
    for s, one in zip(list_of, robot.ask("idm", states=file)["states"]):
        largest(one["efforts"], s["inverse"]["efforts"], 1e-10)
        largest(one["elastic_qdd"], s["inverse"]["modal_qdd"], 1e-10)
        largest(one["active"]["q"], s["active"]["q"], 1e-11)
