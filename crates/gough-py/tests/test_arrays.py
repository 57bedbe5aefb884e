"""Arrays in, arrays out: shapes, memory, refusals, bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gough

R = gough.robot("five-bar")
HOME = [0.05, 0.25]


def test_one_state_has_no_leading_axis() -> None:
    t = R.idm(HOME, [0.3, -0.2], [1.0, 2.0])
    assert t.efforts.shape == (2,) and t.kinetic_energy.shape == () and t.ok.shape == () and bool(t.ok)
    assert t.shape == () and t.refused == []


def test_leading_axes_broadcast() -> None:
    x = np.array(HOME) + 0.001 * np.arange(12).reshape(3, 2, 2)
    xdd = np.array([[1.0, 0.0]])
    t = R.idm(x, [0.1, 0.0], xdd)
    assert t.efforts.shape == (3, 2, 2)
    for i in np.ndindex(3, 2):
        assert np.allclose(t.efforts[i], R.idm(x[i], [0.1, 0.0], [1.0, 0.0]).efforts, rtol=1e-13)
    columns = R.idm(x[:, :1], xdd=np.ones((4, 2)))
    assert columns.efforts.shape == (3, 4, 2)


@pytest.mark.parametrize("make", [list, tuple, np.float32, np.asfortranarray, lambda x: x[::-1][::-1], np.array])
def test_kinds_of_arrays(make: Any) -> None:
    x = np.array([[0.0, 0.25], [0.0625, 0.3125], [0.125, 0.25]])
    assert np.array_equal(R.idm(make(x)).efforts, R.idm(x).efforts)


def test_whole_numbers_and_steps() -> None:
    r = gough.robot("3-rpr")
    wide = np.zeros((6, 6))
    assert np.array_equal(r.inverse_geometry(wide[::2, ::2]).active, r.inverse_geometry(np.zeros((3, 3), int)).active)


def test_poses_in_other_words() -> None:
    r = gough.robot("gough-stewart")
    x = np.array([0.25, 0.43, 1.0, 0.1, -0.05, 0.2])
    from_rpy = _rpy(*x[3:])
    q = _quaternion(from_rpy)
    wanted = r.inverse_geometry(x).active
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = from_rpy, x[:3]
    words = gough.Pose(x="25 cm", y=0.43, z=1.0, roll=0.1, pitch=-0.05, yaw=0.2)
    for other in (np.concatenate([x[:3], 2.5 * q]), gough.Pose(matrix=T), words):
        assert np.abs(r.inverse_geometry(other).active - wanted).max() < 1e-14
    many = gough.Pose(position=np.tile(x[:3], (5, 1)), rotation=from_rpy)
    assert r.inverse_geometry(many).active.shape == (5, 6)
    assert np.abs(r.inverse_geometry("x=25 cm, y=0.43, z=1, roll=0.1, pitch=-0.05, yaw=0.2").active - wanted).max() < 1e-14
    scipy = pytest.importorskip("scipy.spatial.transform")
    turned = gough.Pose(position=x[:3], rotation=scipy.Rotation.from_matrix(from_rpy))
    assert np.abs(r.idm(turned).efforts - r.idm(x).efforts).max() < 1e-9


def _rpy(roll: float, pitch: float, yaw: float) -> Any:
    (cr, sr), (cp, sp), (cy, sy) = ((np.cos(a), np.sin(a)) for a in (roll, pitch, yaw))
    z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    return z @ y @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])


def _quaternion(m: Any) -> Any:
    w = np.sqrt(1 + np.trace(m)) / 2
    return np.array([w, *(np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]) / (4 * w))])


def test_a_bare_square_array_is_states() -> None:
    r = gough.robot("3-rpr")
    assert r.inverse_geometry(np.zeros((3, 3))).active.shape == (3, 3)


def test_out() -> None:
    x = np.array(HOME) + 0.001 * np.arange(10).reshape(5, 2)
    wanted, out = R.idm(x).efforts, np.zeros((5, 2))
    t = R.idm(x, out=out)
    assert t.efforts is out and np.array_equal(out, wanted)
    for other in (np.zeros((5, 4))[:, ::2], np.zeros((2, 5)).T):
        assert R.idm(x, out=other).efforts is other and np.array_equal(other, wanted)
    active = np.zeros((5, 2))
    assert R.inverse_geometry(x, out=active).active is active and active.all()
    acceleration = np.ones((5, 2))
    assert R.ddm(x, out=acceleration).acceleration is acceleration
    r = gough.robot("navaro")
    hz = np.zeros((2, 3))
    assert r.frequencies(np.tile(r.home, (2, 1)), count=3, out=hz).hz is hz and hz.all()
    loaded = np.zeros((5, 2))
    assert R.idm(x, xdd=[0.0, 1.0], payload="mass=1", out=loaded).efforts is loaded and loaded.any()
    shared = np.zeros((5, 2))
    assert R.idm(x, xdd=[0.0, 1.0], reactions=True, out=shared).efforts is shared and shared.any()
    with pytest.raises(gough.BadQuestion, match="shares memory"):
        R.idm(x, out=x)
    with pytest.raises(gough.BadQuestion, match=r"out has shape \(4, 2\); the answer has \(5, 2\)"):
        R.idm(x, out=np.zeros((4, 2)))
    with pytest.raises(TypeError, match="float64"):
        R.idm(x, out=np.zeros((5, 2), np.float32))
    fixed = np.zeros((5, 2))
    fixed.flags.writeable = False
    with pytest.raises(gough.BadQuestion, match="read-only"):
        R.idm(x, out=fixed)


def test_refusals_of_many_states() -> None:
    x = np.array([[HOME, [3.0, 0.0]], [HOME, [0.0, -2.0]]])
    t = R.idm(x)
    assert t.ok.tolist() == [[True, False], [True, False]]
    assert np.isnan(t.efforts[~t.ok]).all() and np.isfinite(t.efforts[t.ok]).all()
    assert [one.index for one in t.refused] == [(0, 1), (1, 1)]
    first = t.refused[0]
    assert first.kind == "out-of-reach" and first.leg in ("1", "2") and first.by and first.by > 1
    assert np.isnan(t.ground_wrench[~t.ok]).all() and np.isnan(t.kinetic_energy[~t.ok]).all()
    with pytest.raises(gough.OutOfReach) as why:
        R.idm(x[0, 1])
    assert str(why.value) == first.message and why.value.by == first.by
    with pytest.raises(gough.OutOfReach, match=r"2 of 4 states have no answer, at \(0, 1\), \(1, 1\)") as many:
        R.idm(x, on_refusal="raise")
    assert many.value.facts["indices"] == [(0, 1), (1, 1)]
    for other in (R.inverse_geometry(x), R.kinematics(x), R.ddm(x), R.inverse_geometry(x, mode="all")):
        assert other.ok.tolist() == t.ok.tolist()
    assert gough.robot("navaro").frequencies([[0, 0, 0], [3, 0, 0]], count=2).ok.tolist() == [True, False]


def test_singular_states() -> None:
    r = gough.robot("3-rpr")
    found = r.singularities(pose=r.home)
    assert found["singularities"]
    # The point where the first leg of the five-bar is stretched and the second reaches.
    length = {name: R.parameters[name].value for name in ("d11", "d12", "d13")}
    reach = length["d12"] + length["d13"]
    edge = [length["d11"] + reach * np.sin(0.8), reach * np.cos(0.8)]
    with pytest.raises(gough.Singular) as why:
        R.kinematics(edge, [1.0, 0.0])
    assert why.value.kind in ("type1", "lpjts") and why.value.leg == "1"


def test_nothing_is_an_answer_about_nothing() -> None:
    for shape in ((0, 2), (3, 0, 2)):
        t = R.idm(np.zeros(shape))
        assert t.efforts.shape == shape and t.ok.shape == shape[:-1] and t.efforts_with_friction.shape == shape
        assert R.inverse_geometry(np.zeros(shape)).passive.shape == shape
        assert R.ddm(np.zeros(shape)).acceleration.shape == shape
        assert R.forward_geometry(np.zeros(shape)).x.shape == (*shape[:-1], 0, 2)
        assert R.inverse_geometry(np.zeros(shape), mode="all").active.shape == (*shape[:-1], 0, 2)
    assert gough.robot("navaro").frequencies(np.zeros((0, 3)), count=4).hz.shape == (0, 4)
    assert len(R.idm(np.zeros((0, 2))).to_dict()["efforts"]) == 0


BAD: list[tuple[Any, type[Exception], str]] = [
    ([1.0, 2.0, 3.0], gough.BadQuestion, r"x has shape \(3,\); shapes that fit: \(2,\) or \(..., 2\), for x, y"),
    (1.0, gough.BadQuestion, r"x has shape \(\)"),
    ([np.nan, 0.2], gough.BadQuestion, r"x has nan at index \(0,\)"),
    ([[0, 0.2], [np.inf, 0.2]], gough.BadQuestion, r"x has inf at index \(1, 0\)"),
    (np.array([1j, 0]), TypeError, "x has complex numbers"),
    (np.array([None, 0.2]), TypeError, "x has objects"),
    (np.array(["a", "b"]), TypeError, "x has strings"),
    (np.array([True, False]), TypeError, "x has truth values"),
    (np.ma.masked_array([0.0, 0.2], mask=[True, False]), TypeError, "masked"),
    ([[0.1, 0.2], [0.3]], gough.BadQuestion, "x is no array"),
    (None, TypeError, "x has objects"),
    ("x=5 kg", gough.BadQuestion, "its unit says otherwise"),
    ("foo=1", gough.BadQuestion, "no platform coordinate `foo`"),
]


@pytest.mark.parametrize(("x", "error", "words"), BAD)
def test_bad_poses(x: Any, error: type[Exception], words: str) -> None:
    for method in (R.idm, R.inverse_geometry, R.ddm, R.kinematics):
        with pytest.raises(error, match=words):
            method(x)


def test_bad_questions() -> None:
    with pytest.raises(gough.BadQuestion, match=r"xd has shape \(3,\); shapes that fit: \(2,\)"):
        R.idm(HOME, [1, 2, 3])
    with pytest.raises(gough.BadQuestion, match=r"the leading axes of x \(2, 2\), xd \(3, 2\), xdd \(2,\) do not broadcast"):
        R.idm(np.tile(HOME, (2, 1)), np.zeros((3, 2)))
    with pytest.raises(gough.BadQuestion, match="'xyz' is no working mode|`xyz` is no working mode"):
        R.idm(HOME, mode="xyz")
    with pytest.raises(gough.BadQuestion, match="threads is 0"):
        R.idm(HOME, threads=0)
    with pytest.raises(gough.BadQuestion, match="on_refusal"):
        R.idm(HOME, on_refusal="ignore")  # type: ignore[arg-type]
    with pytest.raises(gough.BadQuestion, match="mass is missing"):
        R.idm(HOME, payload="com=0:0:1")
    with pytest.raises(gough.BadQuestion, match="did you mean"):
        R.idm(HOME, wrench={"fxx": 1.0})
    with pytest.raises(gough.BadQuestion, match="friction_width is -1"):
        R.idm(HOME, friction_width=-1.0)
    with pytest.raises(gough.BadQuestion, match="no body"):
        R.idm(HOME, load="99:fx=1")
    with pytest.raises(gough.BadQuestion, match="efforts has shape"):
        R.ddm(HOME, efforts=[1.0])
    with pytest.raises(gough.BadQuestion, match=r"q has shape \(3,\)"):
        R.forward_geometry([0, 0, 0])
    with pytest.raises(gough.BadQuestion, match="count is 0"):
        gough.robot("navaro").frequencies(count=0)
    with pytest.raises(gough.BadQuestion, match="`stiff` is none of"):
        gough.robot("navaro").frequencies(actuators="stiff")  # type: ignore[arg-type]
    with pytest.raises(gough.BadQuestion, match="needs a span"):
        R.map("conditioning", x=0.1)
    with pytest.raises(gough.BadQuestion, match="no rotation"):
        gough.Pose(position=[0, 0, 0], rotation=2 * np.eye(3))
    with pytest.raises(gough.BadQuestion, match=r"\(4, 4\)"):
        gough.Pose(matrix=np.eye(3))
    with pytest.raises(gough.BadQuestion, match="quaternion of length zero"):
        gough.robot("gough-stewart").idm([0, 0, 1, 0, 0, 0, 0])


def test_a_broadcast_beyond_memory_is_refused_before_memory_is_asked_for() -> None:
    with pytest.raises(gough.BadQuestion, match="1000000000000 states"):
        R.idm(np.zeros((1_000_000, 1, 2)), np.zeros((1_000_000, 2)))


def test_names_and_tables() -> None:
    t = R.idm(np.tile(HOME, (3, 1)), xdd=[1.0, 2.0])
    assert np.array_equal(t["tau_11"], t.efforts[:, 0]) and np.array_equal(t["qd21"], t.active_qd[:, 1])
    assert t.units["efforts"] == ("N*m", "N*m") and t.fields["active"].labels == ("q11", "q21")
    with pytest.raises(KeyError, match="did you mean `tau_11`"):
        t["tau11"]
    with pytest.raises(AttributeError, match="did you mean `efforts`"):
        t.effort
    assert "tau_11" in repr(R.idm(HOME)) and "N*m" in repr(R.idm(HOME)) and "3 states" in repr(t)
    assert "<table>" in t._repr_html_() and t.question["method"] == "idm"
    assert set(t) == set(t.fields) and "efforts" in t and len(t) == len(t.fields)
    assert t.to_dict()["efforts"] == t.efforts.tolist()
    frequencies = gough.robot("navaro").frequencies(count=3)
    assert frequencies["f1"] == frequencies.hz[0] and "Hz" in repr(frequencies)
    assert "+-" in repr(R.inverse_geometry(HOME, mode="all"))


def test_pandas_and_xarray() -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("xarray")
    x = np.array(HOME) + 0.001 * np.arange(12).reshape(3, 2, 2)
    t = R.idm(x)
    table = t.to_pandas()
    assert list(table.columns) == ["tau_11", "tau_21", "ok"] and table.index.nlevels == 2 and len(table) == 6
    assert list(R.idm(HOME).to_pandas(["active"]).columns) == ["q11", "q21", "ok"]
    data = t.to_xarray(["efforts", "kinetic_energy"])
    assert data["efforts"].dims == ("state_0", "state_1", "efforts_of") and data["efforts"].attrs["units"] == "N*m"
    every = R.inverse_geometry(x, mode="all")
    assert len(every.to_pandas()) == int(every.count.sum()) and "mode" in every.to_xarray().dims
    m = R.map("conditioning", x=(-0.1, 0.1, 5), y=(0.2, 0.3, 4))
    assert m.to_xarray().sel(x=0.0, y=0.2, method="nearest") == m.values[2, 0]
    assert list(m.to_pandas().columns) == ["x", "y", "conditioning"] and "conditioning" in repr(m)


def test_plots() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    m = R.map("conditioning", x=(-0.1, 0.1, 5), y=(0.2, 0.3, 4))
    axes = m.plot()
    assert axes.get_xlabel() == "x [m]" and "five-bar" in axes.get_title()
    assert len(R.map("conditioning", x=(-0.1, 0.1, 5)).plot().lines) == 1


def test_what_is_not_installed_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_pandas needs pandas, which is not installed: pip install pandas"):
        R.idm(HOME).to_pandas()
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match="ray_executor needs ray"):
        gough.ray_executor()


def test_working_modes() -> None:
    every = R.inverse_geometry(HOME, mode="all")
    for k, mode in enumerate(every.working_modes):
        assert np.array_equal(R.inverse_geometry(HOME, mode=mode).active, every.active[k])
        assert np.isfinite(R.idm(HOME, mode=mode).efforts).all()


def test_efforts_are_those_of_idm() -> None:
    for name in ("five-bar", "gough-stewart", "dualv", "delta-parallelogram", "tripteron"):
        r = gough.robot(name)
        rest = np.zeros(len(r.components))
        found = r.efforts(np.array(r.home), rest, rest)
        assert np.allclose(found, r.idm(r.home).efforts, rtol=1e-9, atol=1e-9)
    with pytest.raises(gough.OutOfReach):
        R.efforts(np.array([3.0, 0.0]), np.zeros(2), np.zeros(2))
    with pytest.raises(gough.BadQuestion, match="xd has shape"):
        R.efforts(np.array(HOME), np.zeros(3), np.zeros(2))
    assert R.efforts([HOME, HOME]).shape == (2, 2)


def test_roads_agree() -> None:
    """Four states at a time, and one after the other with everything."""
    rng = np.random.default_rng(7)
    for name in ("gough-stewart", "five-bar", "orthoglide", "3-rpr", "dualv", "delta"):
        r = gough.robot(name)
        n, m = len(r.coordinates), len(r.components)
        x = r.home + 0.01 * rng.standard_normal((9, n))
        xd, xdd = rng.standard_normal((2, 9, m))
        quick = r.idm(x, xd, xdd)
        whole = r.idm(x, xd, xdd, wrench="fx=0")
        assert np.abs(quick.efforts - whole.efforts).max() < 1e-9 * max(1.0, np.abs(whole.efforts).max())
        back = r.ddm(x, xd, quick.efforts)
        assert np.abs(back.acceleration - xdd).max() < 1e-7


def test_what_takes_one_state_does_not_answer_the_first_of_many() -> None:
    many = np.array([[0.05, 0.25], [0.0, 0.3]])
    assert R.matrices(many[0])["working_mode"] == R.mode
    for x in (many, many[:1], many[:0]):
        with pytest.raises(gough.BadQuestion, match=r"x has shape .* takes one state"):
            R.matrices(x)
    with pytest.raises(gough.BadQuestion, match="twist has shape"):
        R.matrices(many[0], many)
    with pytest.raises(gough.BadQuestion, match="pose has shape"):
        R.singularities(pose=many)
    with pytest.raises(gough.BadQuestion, match="d13 has shape .* one number"):
        R.with_parameters(d13=np.array([0.2, 0.3]))  # type: ignore[arg-type]
    with pytest.raises(gough.BadQuestion, match="d13 is nan"):
        R.with_parameters(d13=float("nan"))
    with pytest.raises(TypeError, match="give a concurrent.futures executor"):
        R.idm(many, executor=3)  # type: ignore[arg-type]


def test_flexible_robots_answer_about_the_pose_that_is_asked() -> None:
    navaro = gough.robot("navaro")
    poses = np.array([[0.0, 0.0, -0.1 * k] for k in range(13)])
    given = navaro.inverse_geometry(poses)
    found = navaro.idm(poses)
    assert found.ok.all() and np.abs(found.passive - given.passive).max() < 1e-9
    told = [0.0 if document is None else document["pose"]["phi"] for document in found.documents]
    assert np.abs(np.array(told) - poses[:, 2]).max() < 1e-9
    with pytest.raises(gough.OutOfReach) as why:
        navaro.idm([5.0, 0.0, 0.0])
    assert why.value.leg == "1" and why.value.by > 1.0
    refused = navaro.idm([[5.0, 0.0, 0.0], [0.0, 0.0, -0.5]]).refused
    assert [(one.index, one.leg) for one in refused] == [((0,), "1")]
    with pytest.raises(AttributeError, match="rigid=True"):
        _ = found.ground_wrench
    assert navaro.idm(poses, rigid=True).ground_wrench.shape == (13, 6)
