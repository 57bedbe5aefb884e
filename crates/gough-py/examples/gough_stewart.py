"""Efforts of a Gough-Stewart platform along a motion, by two roads."""

# %%
import importlib.util
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import gough

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
r = gough.robot("gough-stewart")

# %% A circle of 5 cm in two seconds, without turning: two thousand states at once.
time = np.linspace(0.0, 2.0, 2_001)
w = np.pi
x = np.tile(r.home, (len(time), 1))
xd, xdd = np.zeros((2, len(time), 6))
radius = 0.05
x[:, 0] += radius * np.sin(w * time)
x[:, 1] += radius * (np.cos(w * time) - 1.0)
xd[:, 0], xd[:, 1] = radius * w * np.cos(w * time), -radius * w * np.sin(w * time)
xdd[:, 0], xdd[:, 1] = -radius * w**2 * np.sin(w * time), -radius * w**2 * np.cos(w * time)
t = r.idm(x, xd, xdd, on_refusal="raise")
print(t)

# %% The power of the drives is the rate of the energy.
energy = t.kinetic_energy + t.kinetic_energy_rotors + t.potential_energy
power = (t.efforts * t.active_qd).sum(axis=-1)
rate = np.gradient(energy, time)
print(f"power and rate of energy differ by {np.abs(power - rate)[1:-1].max():.1e} W of {np.abs(power).max():.1f} W")
assert np.abs(power - rate)[1:-1].max() < 1e-3 * np.abs(power).max()

# %% The second road: the generated program of the same model.
code = r.codegen("idm", "python")
with tempfile.TemporaryDirectory() as place:
    for name, text in code["texts"].items():
        Path(place, name).write_text(text)
    spec = importlib.util.spec_from_file_location("generated", Path(place, "gough_stewart_idm.py"))
    assert spec is not None and spec.loader is not None
    generated = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generated)
turned = Rotation.from_euler("xyz", r.home[3:]).as_matrix().reshape(9)
pose = np.concatenate([x[:, :3], np.broadcast_to(turned, (len(time), 9))], axis=-1)
other = generated.gough_stewart_idm(pose, xd, xdd)
off = np.abs(other - t.efforts).max() / np.abs(t.efforts).max()
print(f"the generated program differs by {off:.1e}")
assert off < 1e-12

# %% And back: the efforts give the motion again.
back = r.ddm(x[::50], xd[::50], t.efforts[::50])
print(f"accelerations differ by {np.abs(back.acceleration - xdd[::50]).max():.1e} m/s^2")
assert np.abs(back.acceleration - xdd[::50]).max() < 1e-9

# %%
plt.plot(time, t.efforts, label=[f"q{name}" for name in r.active_joints])
plt.xlabel("time [s]")
plt.ylabel("efforts [N]")
plt.legend()
plt.savefig(folder / "gough_stewart.png", dpi=110)
plt.close("all")
