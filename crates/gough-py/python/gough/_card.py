"""The card of a robot: a drawing of its home posture, and what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._robot import Robot

_COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd", "#8c564b", "#e377c2", "#17becf", "#bcbd22")


def drawing(robot: Robot, width: int = 260, height: int = 200) -> str:
    """The home posture as SVG: planar robots from above, others from the front and slightly above."""
    flat = "z" not in robot.coordinates

    def seen(p: list[float]) -> tuple[float, float]:
        return (p[0], p[1]) if flat else (p[0] + 0.35 * p[1], p[2] + 0.25 * p[1])

    lines = [(seen(a), seen(b), leg) for a, b, leg in robot._segments]
    if not lines:
        return ""
    points = [point for a, b, _ in lines for point in (a, b)]
    left, low = (min(point[k] for point in points) for k in (0, 1))
    right, high = (max(point[k] for point in points) for k in (0, 1))
    scale = min((width - 20) / max(right - left, 1e-9), (height - 20) / max(high - low, 1e-9))

    def place(point: tuple[float, float]) -> tuple[str, str]:
        return f"{10 + (point[0] - left) * scale:.1f}", f"{10 + (high - point[1]) * scale:.1f}"

    drawn = []
    for a, b, leg in lines:
        (x1, y1), (x2, y2) = place(a), place(b)
        colour = "#222" if leg is None else _COLOURS[leg % len(_COLOURS)]
        drawn.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}" stroke-width="3"/>')
    drawn += [f'<circle cx="{x}" cy="{y}" r="3" fill="#fff" stroke="#222"/>' for x, y in map(place, set(points))]
    box = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box} stroke-linecap="round">{"".join(drawn)}</svg>'


def card(robot: Robot) -> str:
    """A small card for notebooks."""
    from html import escape

    checked = robot.check()
    legs = ", ".join(f"{leg['name']}: {leg['chain']}" for leg in checked["legs"])
    rows = {
        "platform": ", ".join(robot.coordinates),
        "drives": ", ".join(robot.active_joints),
        "legs": legs,
        "mobility": str(checked["mobility"]),
        "working mode": robot.mode,
    }
    facts = "".join(f"<tr><th>{name}</th><td>{escape(value)}</td></tr>" for name, value in rows.items())
    told = ", ".join(f"{p.name} = {p.value:.6g}{' ' + p.unit if p.unit else ''}" for p in robot.parameters.values())
    return (
        f"<div><b>{escape(robot.name)}</b><br>{drawing(robot)}<table>{facts}</table>"
        f"<details><summary>{len(robot.parameters)} parameters</summary>{escape(told)}</details></div>"
    )
