"""Pieces on executors, and in folders."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gough
from gough import _pieces

R = gough.robot("five-bar")


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_pieces, "SIZE", 256)


def states(count: int = 2400) -> Any:
    rng = np.random.default_rng(1)
    x = np.array([0.05, 0.25]) + 0.01 * rng.standard_normal((count, 2))
    x[count // 2] = [3.0, 0.0]
    return x


class Counting(ThreadPoolExecutor):
    """Counts what it is given."""

    given = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.given += 1
        return super().submit(fn, *args, **kwargs)


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_processes(way: str) -> None:
    x = states()
    R.idm(x, threads=2)  # threads of this process do not exist in its forks
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(way)) as pool:
        found, wanted = R.idm(x, xdd=[0.0, 1.0], executor=pool), R.idm(x, xdd=[0.0, 1.0])
        assert np.array_equal(found.efforts, wanted.efforts, equal_nan=True)
        assert found.refused == wanted.refused and found.ok.tolist() == wanted.ok.tolist()
        assert np.array_equal(found.kinetic_energy, wanted.kinetic_energy, equal_nan=True)
        navaro = gough.robot("navaro")
        poses = np.array([[0.001 * k, 0.0, -0.5] for k in range(12)]).reshape(3, 4, 3)
        hz = navaro.frequencies(poses, count=2, executor=pool).hz
        assert hz.shape == (3, 4, 2) and np.array_equal(hz, navaro.frequencies(poses, count=2).hz)


def test_a_second_run_computes_only_what_is_missing(tmp_path: Path) -> None:
    x = states()
    with Counting(2) as pool:
        wanted = R.idm(x, executor=pool, folder=tmp_path)
        assert pool.given == 10
    pieces = sorted(tmp_path.glob("*/*.piece"))
    assert len(pieces) == 10
    pieces[3].unlink()
    pieces[5].write_bytes(pieces[5].read_bytes()[:100])
    with Counting(2) as pool:
        found = R.idm(x, executor=pool, folder=tmp_path)
        assert pool.given == 2
    assert np.array_equal(found.efforts, wanted.efforts, equal_nan=True) and found.refused == wanted.refused
    with Counting(2) as pool:
        R.idm(x, payload="mass=1", executor=pool, folder=tmp_path)
        R.with_parameters(d13=0.19).idm(x, executor=pool, folder=tmp_path)
        assert pool.given == 20
    assert np.array_equal(R.idm(x, folder=tmp_path).efforts, wanted.efforts, equal_nan=True)


class Dying(Executor):
    """An executor whose first worker dies."""

    def __init__(self) -> None:
        self.pool, self.dead = ThreadPoolExecutor(2), 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self.dead == 0:
            self.dead += 1
            lost: Future[Any] = Future()
            lost.set_exception(ConnectionError("worker gone"))
            return lost
        return self.pool.submit(fn, *args, **kwargs)


def test_a_piece_whose_worker_dies_is_given_to_another() -> None:
    x = states()
    found = R.idm(x, executor=Dying())
    assert np.array_equal(found.efforts, R.idm(x).efforts, equal_nan=True)


def _die(seconds: float) -> None:
    time.sleep(seconds)
    os._exit(1)


def test_a_killed_process_loses_no_piece(tmp_path: Path) -> None:
    x = states(2048)
    with ProcessPoolExecutor(2) as pool:
        pool.submit(_die, 0.0)
        with pytest.raises(gough.Error, match="the executor lost a piece|folder="):
            R.idm(np.tile(x, (20, 1)), executor=pool, folder=tmp_path)
    kept = len(list(tmp_path.glob("*/*.piece")))
    with Counting(2) as again:
        found = R.idm(np.tile(x, (20, 1)), executor=again, folder=tmp_path)
        assert again.given == 160 - kept
    assert np.array_equal(found.efforts[:2048], R.idm(x).efforts, equal_nan=True)


def test_folders_that_cannot_be_written_to(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(gough.Error, match="name a folder that can be written to"):
        R.idm(states(), folder=file)


def test_refusals_and_shapes_of_pieces() -> None:
    with ThreadPoolExecutor(2) as pool:
        with pytest.raises(gough.OutOfReach):
            R.idm([3.0, 0.0], executor=pool)
        assert R.idm([0.05, 0.25], executor=pool).efforts.shape == (2,)
        assert R.idm(np.zeros((0, 2)), executor=pool).efforts.shape == (0, 2)
        with pytest.raises(gough.OutOfReach, match="1 of 2400"):
            R.idm(states(), executor=pool, on_refusal="raise")
        with pytest.raises(gough.BadQuestion, match="no working mode"):
            R.idm(states(), mode="xyz", executor=pool)
        broadcast = R.ddm([0.05, 0.25], efforts=np.ones((3, 150, 2)), executor=pool)
        assert broadcast.acceleration.shape == (3, 150, 2)
        forces = R.idm(states(5)[:2], reactions=True, executor=pool)
        assert len(forces.reactions) == 2
        out = np.zeros((2400, 2))
        assert R.idm(states(), xdd=[0, 1.0], executor=pool, out=out).efforts is out and out.any()


def test_maps_in_rows(tmp_path: Path) -> None:
    spans: dict[str, Any] = {"x": (-0.5, 0.5, 7), "y": (0.1, 0.3, 5)}
    wanted = R.map("conditioning", **spans)
    with Counting(2) as pool:
        found = R.map("conditioning", **spans, executor=pool, folder=tmp_path)
        assert pool.given == 5
        next(tmp_path.glob("map-*/*3.piece")).unlink()
        again = R.map("conditioning", **spans, executor=pool, folder=tmp_path)
        assert pool.given == 6
    for other in (found, again):
        assert np.array_equal(other.values, wanted.values, equal_nan=True) and other.unit == wanted.unit
        assert {name: axis.tolist() for name, axis in other.axes.items()} == {n: a.tolist() for n, a in wanted.axes.items()}
        assert sum(one["count"] for one in other.refused) == (~wanted.ok).sum() > 0
    navaro = gough.robot("navaro")
    grid: dict[str, Any] = {"x": (-0.1, 0.1, 3), "y": (0.0, 0.1, 2), "phi": "-60 deg"}
    hz = navaro.map("f1", **grid, folder=tmp_path).values
    assert np.abs(hz / navaro.map("f1", **grid).values - 1).max() < 1e-10
    with pytest.raises(gough.BadQuestion, match="without areas"):
        R.map("aspect", **spans, folder=tmp_path)


class Killer(threading.Thread):
    """Kills a process once a folder has a few pieces of many."""

    def __init__(self, folder: Path, pid: int) -> None:
        super().__init__(daemon=True)
        self.folder, self.pid, self.pieces = folder, pid, 0
        self.start()

    def run(self) -> None:
        while self.pieces < 3:
            time.sleep(0.001)
            self.pieces = len(list(self.folder.glob("*/*.piece")))
        os.kill(self.pid, signal.SIGKILL)


def without_a_worker(executor: Executor, pid: int, folder: Path) -> None:
    """A worker is killed in the middle: no piece is lost, and a second run has nothing to compute but what is missing."""
    navaro = gough.robot("navaro")
    poses = np.array([0.0, 0.0, -0.5]) + 0.02 * np.random.default_rng(2).standard_normal((40 * 256, 3))
    killer = Killer(folder, pid)
    found = navaro.frequencies(poses, count=2, executor=executor, folder=folder)
    killer.join(10.0)
    assert 3 <= killer.pieces < 40, "the worker was not killed in the middle"
    with pytest.raises(ProcessLookupError):
        for _ in range(100):  # until the parent has seen it end
            os.kill(pid, 0)
            time.sleep(0.05)
    assert np.array_equal(found.hz, navaro.frequencies(poses, count=2).hz, equal_nan=True)
    for piece in sorted(folder.glob("*/*.piece"))[:2]:
        piece.unlink()
    with Counting(2) as pool:
        again = navaro.frequencies(poses, count=2, executor=pool, folder=folder)
        assert pool.given == 2
    assert np.array_equal(found.hz, again.hz, equal_nan=True)


def test_dask(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        x = states()
        found = R.idm(x, executor=client.get_executor())
        assert np.array_equal(found.efforts, R.idm(x).efforts, equal_nan=True)
        first, *_ = client.run(os.getpid).values()
        without_a_worker(client.get_executor(), first, tmp_path)


def test_ray(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    x = states()
    ray.init(num_cpus=2, include_dashboard=False)
    try:
        found = R.idm(x, executor=gough.ray_executor())
        assert np.array_equal(found.efforts, R.idm(x).efforts, equal_nan=True)
        own = ray.remote(lambda: os.getpid())
        first, *_ = ray.get([own.remote() for _ in range(8)])
        without_a_worker(gough.ray_executor(), first, tmp_path)
    finally:
        ray.shutdown()
