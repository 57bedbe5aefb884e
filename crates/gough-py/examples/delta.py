"""A Delta robot, from an empty file to what a designer wants to know."""

# %%
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import gough

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

# %% An empty file is no robot; what is missing is said.
try:
    gough.from_text("", name="delta.toml")
except gough.BadRobot as why:
    for fault in why.faults:
        print(f"line {fault.line}: {fault.message} ({fault.suggestion})")

# %% Three cranks with rods between universal joints.
TEXT = """
[robot]
name = "my-delta"
home = { x = 0, y = 0, z = "-600 mm" }

[parameters]
R = "200 mm"
r = "50 mm"
l1 = "250 mm"
l2 = "600 mm"

[platform]
coordinates = "translation"
mass = "500 g"

[template.arm]
needs = ["turn"]
near = { "{leg}1" = "30 deg" }
body = [
  { name = "{leg}1", on = "base", joint = "R", frame = { rpy = [0, 0, "turn"] }, point = ["R", 0, 0], axis = [0, 1, 0], drive = { rotor_inertia = 0.01 }, shape = { box = ["l1", "40 mm", "20 mm"], density = "2.7 g/cm^3" } },
  { name = "{leg}2", on = "{leg}1", joint = "U", point = ["l1", 0, 0], axis = [0, 1, 0], axis2 = [0, 0, 1], shape = { tube = ["l2", "10 mm", "8 mm"], density = "3.2 g/cm^3" } },
]
closure = [
  { joint = "U", a = { body = "{leg}2", point = ["l2", 0, 0] }, b = { body = "platform", frame = { rpy = [0, 0, "turn"] }, point = ["r", 0, 0], axis = [0, 1, 0] } },
]

[legs]
1 = { template = "arm", turn = 0 }
2 = { template = "arm", turn = "120 deg" }
3 = { template = "arm", turn = "240 deg" }
"""
r = gough.from_text(TEXT, name="delta.toml")
print(r)
print(r.parameters)
checked = r.check()
assert checked["mobility"] == 3

# %% How well does it move, and where not?
m = r.map("conditioning", x=(-0.3, 0.3, 25), y=(-0.3, 0.3, 25))
print(m)
m.plot()
plt.savefig(folder / "delta.png", dpi=110)
plt.close("all")

# %% Torques of a pick and place, with a payload of 300 g.
s = np.linspace(0.0, 1.0, 201)[:, None]
time = 0.4
law, rate, second = 10 * s**3 - 15 * s**4 + 6 * s**5, 30 * s**2 - 60 * s**3 + 30 * s**4, 60 * s - 180 * s**2 + 120 * s**3
start, way = np.array([-0.1, 0.0, -0.65]), np.array([0.2, 0.0, 0.1])
t = r.idm(start + law * way, rate * way / time, second * way / time**2, payload={"mass": 0.3})
print(f"largest torque {np.abs(t.efforts).max():.2f} N*m, without payload ", end="")
empty = r.idm(start + law * way, rate * way / time, second * way / time**2)
print(f"{np.abs(empty.efforts).max():.2f} N*m")
assert np.abs(empty.efforts).max() < np.abs(t.efforts).max() < 60.0

# %% Longer cranks, anybody?
for l1 in (0.20, 0.25, 0.30):
    other = r.with_parameters(l1=l1)
    found = other.idm(start + law * way, rate * way / time, second * way / time**2)
    ok = "" if found.ok.all() else f", {(~found.ok).sum()} states out of reach"
    print(f"l1 = {l1:.2f} m: {np.nanmax(np.abs(found.efforts)):.2f} N*m{ok}")

# %% A pose that it cannot take.
try:
    r.idm([0.0, 0.0, -1.2])
except gough.OutOfReach as why:
    print(f"leg {why.leg} is too short by {why.by:.3f} m")

# %% Code for the controller.
code = r.codegen("idm", "c", output=folder / "code")
print(sorted(code["texts"]))
