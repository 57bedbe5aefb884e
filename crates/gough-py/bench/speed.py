"""How fast the package is: processor time of one core, best of many.

    python bench/speed.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

import gough


def best(call: Callable[[], object], number: int, repeats: int = 15) -> float:
    """Least processor time of one call, in microseconds."""
    call()
    taken = []
    for _ in range(repeats):
        begun = time.process_time()
        for _ in range(number):
            call()
        taken.append((time.process_time() - begun) / number)
    return min(taken) * 1e6


def wall(call: Callable[[], object], repeats: int = 7) -> float:
    """Least time of one call by the clock, in seconds."""
    call()
    taken = []
    for _ in range(repeats):
        begun = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begun)
    return min(taken)


def imports() -> tuple[float, float]:
    """Processor time of importing numpy, and of importing gough after it, in milliseconds."""
    text = "import time; a = time.process_time(); import numpy; b = time.process_time(); import gough; "
    text += "print(b - a, time.process_time() - b)"
    lists = [subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True) for _ in range(7)]
    pairs = [[1e3 * float(x) for x in done.stdout.split()] for done in lists]
    return min(p[0] for p in pairs), min(p[1] for p in pairs)


def main() -> None:
    print(f"gough {gough.__version__}, lanes {gough.lanes}, {os.cpu_count()} cores")
    r = gough.robot("gough-stewart")
    rng = np.random.default_rng(1)
    x, still = np.array(r.home), np.zeros(6)
    print(f"efforts, one Gough-Stewart state      {best(lambda: r.efforts(x, still, still), 20_000):8.3f} us")
    print(f"idm, one Gough-Stewart state          {best(lambda: r.idm(x, still, still), 5_000):8.3f} us")
    q = np.array([*r.home[:3], 1.0, 0.0, 0.0, 0.0])
    print(f"efforts, with a quaternion            {best(lambda: r.efforts(q, still, still), 20_000):8.3f} us")
    n = 100_000
    many = r.home + 0.02 * rng.standard_normal((n, 6))
    xd, xdd = rng.standard_normal((2, n, 6))
    one = best(lambda: r.idm(many, xd, xdd, threads=1), 1) / n
    print(f"idm, 100000 states, one thread        {one:8.3f} us per state")
    quaternions = np.concatenate([many[:, :3], np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))], axis=-1)
    print(f"  poses with quaternions              {best(lambda: r.idm(quaternions, xd, xdd, threads=1), 1) / n:8.3f} us per state")
    times = [wall(lambda: r.idm(many, xd, xdd, threads=t)) for t in (1, 2)]  # noqa: B023
    print(f"  two threads by the clock            {times[0] / times[1]:8.2f} times as many per second")
    full = best(lambda: r.idm(many[:2000], xd[:2000], xdd[:2000], threads=1).kinetic_energy, 1) / 2000
    print(f"  with energies and all joints        {full:8.3f} us per state")
    print(f"ddm, 100000 states, one thread        {best(lambda: r.ddm(many, xd, threads=1), 1, 5) / n:8.3f} us per state")
    print(f"inverse geometry, 100000 states       {best(lambda: r.inverse_geometry(many, threads=1), 1, 5) / n:8.3f} us per state")
    v = gough.robot("navaro")
    pose = np.array([0.0, 0.0, -1.0])
    print(f"frequencies, one NaVARo posture       {best(lambda: v.frequencies(pose, count=5), 200):8.3f} us")
    poses = np.tile(pose, (1000, 1))
    print(f"  of 1000, one thread                 {best(lambda: v.frequencies(poses, count=5, threads=1), 1, 5) / 1000:8.3f} us")
    slowest = max((best(lambda: gough.robot(name), 1, 5) / 1e3, name) for name in gough.robots())  # noqa: B023
    print(f"gough.robot, the slowest shipped      {slowest[0]:8.3f} ms ({slowest[1]})")
    length = v.parameters["l"].value
    print(f"with_parameters of NaVARo             {best(lambda: v.with_parameters(l=1.01 * length), 5) / 1e3:8.3f} ms")
    alone, added = imports()
    print(f"import numpy {alone:.1f} ms, gough after it {added:.1f} ms")


if __name__ == "__main__":
    main()
