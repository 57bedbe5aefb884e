"""NaVARo: its published table of natural frequencies, and a map of the lowest one."""

# %%
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import gough

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
r = gough.robot("navaro")
print(r)

# %% The table: two of the published poses, printed by Germain, Briot, Caro & Wenger (2015), Table 3.
poses = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, np.radians(-60.0)]])
table = r.frequencies(poses, count=5, actuators="locked")
print(table)
print(table.to_pandas().round(2))

# %% What vibrates in the first mode, and which parameter to change.
first = r.frequencies(poses[1], count=1, energy=True, sensitivity=True)
for part in first.energy[0]["elastic_energy"][:3]:
    print(f"{part['of']}: {part['share']:.1%} in {part['kind']}")
for slope in first.sensitivity[:3]:
    print(f"{slope['parameter']}: {slope['percent_per_percent'][0]:+.2f} % per per cent")

# %% Where is the lowest frequency lowest?
m = r.map("f1", x=(-0.2, 0.2, 9), y=(-0.2, 0.2, 9), phi="-60 deg")
print(m)
axes = m.plot()
plt.savefig(folder / "navaro.png", dpi=110)
plt.close("all")
lowest = np.nanmin(m.values)
print(f"the lowest frequency is {lowest:.2f} Hz")
assert 20.0 < lowest < table.hz.min()
