"""A stiffer NaVARo that weighs no more: widths and heights of links and arms by `scipy.optimize`, with exact slopes.

The lowest natural frequency, the mean over three poses, is made as high as it can be while the robot weighs no more than before. The slopes
of the frequencies come from the library, those of areas and moments of a section from a complex step.
"""

# %%
from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import NonlinearConstraint, minimize

import gough

Numbers = NDArray[np.float64]
folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
robot = gough.robot("navaro")
poses = [[0.01, 0.02, -1.0], [-0.06, 0.03, -1.1], [0.03, -0.07, -0.9]]
value = {name: p.value for name, p in robot.parameters.items()}


# %% A rectangle of width `b` along the local y and height `h` along the local z: area, moments, torsion constant and polar moment.
def section(b: complex, h: complex) -> list[complex]:
    short, long = (b, h) if b.real <= h.real else (h, b)
    torsion = short**3 * long * (1 / 3 - 0.21 * short / long * (1 - short**4 / (12 * long**4)))
    y, z = b * h**3 / 12, h * b**3 / 12
    return [b * h, y, z, torsion, y + z]


NAMES = [f"{part}_{what}" for part in ("link", "arm") for what in ("A", "Iy", "Iz", "J", "Ip")]
LENGTHS = {"link": 3 * 5 * value["l"], "arm": 3 * value["rp"]}


def named(x: Numbers) -> Numbers:
    """Parameters of the file for widths and heights."""
    return np.array([p.real for p in [*section(x[0], x[1]), *section(x[2], x[3])]])


def slopes(x: Numbers) -> Numbers:
    """Their slopes, one row per parameter: a complex step, exact to the last digit."""
    columns = []
    for k in range(4):
        moved = x.astype(complex)
        moved[k] += 1e-30j
        columns.append([p.imag / 1e-30 for p in [*section(moved[0], moved[1]), *section(moved[2], moved[3])]])
    return np.array(columns).T


def mass(x: Numbers) -> float:
    return float(value["density"] * (LENGTHS["link"] * x[0] * x[1] + LENGTHS["arm"] * x[2] * x[3]))


# %% The mean of the lowest frequency over the poses, and its slopes, held against differences.
def lowest(x: Numbers) -> tuple[float, Numbers]:
    """The mean of the lowest frequency over the poses, and its slopes."""
    own = robot.with_parameters(**dict(zip(NAMES, named(x).tolist(), strict=True)))
    hz, by = 0.0, np.zeros(len(NAMES))
    for pose in poses:
        found = own.frequencies(pose, count=1, sensitivity=True)
        hz += float(found.hz[0]) / len(poses)
        slope = {s["parameter"]: s["hz_per_unit"][0] for s in found.sensitivity}
        by += np.array([slope.get(name, 0.0) for name in NAMES]) / len(poses)
    return hz, by @ slopes(x)


start = np.array([0.010, 0.024, 0.010, 0.040])
before, slope = lowest(start)
step = 1e-7
by_difference = [(lowest(start + step * e)[0] - lowest(start - step * e)[0]) / (2 * step) for e in np.eye(4)]
assert np.allclose(slope, by_difference, rtol=1e-5, atol=1e-5 * float(np.abs(slope).max()))

# %% The search, in centimetres, so that its numbers are near one.
limit = mass(start)


def height(x: Numbers) -> float:
    return -lowest(0.01 * x)[0]


def slope_of_height(x: Numbers) -> Numbers:
    return -0.01 * lowest(0.01 * x)[1]


def share_of_mass(x: Numbers) -> list[float]:
    return [mass(0.01 * x) / limit]


found = minimize(
    height,
    100 * start,
    jac=slope_of_height,
    bounds=[(0.6, 4.0)] * 4,
    constraints=NonlinearConstraint(share_of_mass, 0.0, 1.0),
    method="SLSQP",
    tol=1e-8,
)
best = 0.01 * np.asarray(found.x, dtype=float)
after, _ = lowest(best)
print(f"{before:.2f} Hz -> {after:.2f} Hz; {limit:.3f} kg -> {mass(best):.3f} kg; sections {np.round(1000 * best, 2)} mm")
assert after > 1.2 * before and mass(best) <= limit * (1 + 1e-6)

# %% Before and after.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
for words, x in (("before", start), ("after", best)):
    own = robot.with_parameters(**dict(zip(NAMES, named(x).tolist(), strict=True)))
    line = np.linspace(-0.1, 0.1, 41)
    left.plot(line, own.frequencies([[u, 0.01, -1.0] for u in line], count=1).hz[:, 0], label=words)
left.set_xticks([-0.1, -0.05, 0.0, 0.05, 0.1])
left.set(xlabel="x, m", ylabel="lowest frequency, Hz")
left.legend()
right.bar(np.arange(4) - 0.2, 1000 * start, 0.4, label="before")
right.bar(np.arange(4) + 0.2, 1000 * best, 0.4, label="after")
right.set_xticks(range(4), ["link b", "link h", "arm b", "arm h"])
right.set_ylabel("mm")
figure.tight_layout()
figure.savefig(folder / "design.png", dpi=120)
