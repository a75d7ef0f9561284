# SPDX-License-Identifier: Apache-2.0
"""Samples a second over time, a line a mode, as an SVG. From measured runs: each epoch is a step."""

import json
import pathlib
import subprocess

EPOCHS = 6
MODES = {"direct": "#555555", "file": "#c0504d", "stream": "#4f81bd", "pipe": "#8064a2", "keep": "#2e8b57",
         "fastfile": "#d98e04"}
MEDIUM = "s3-standard"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 420, 70, 110, 50, 50


def measure(headrace, uri, data, scratch) -> dict:
    """By mode: (seconds since the process began, samples a second) at each change."""
    lines = {}
    for mode in MODES:
        where = [data] if mode == "direct" else [uri, "--medium", MEDIUM]
        options = {"file": ["--local", f"{scratch}/chart-file"],
                   "pipe": ["--pairs"],
                   "keep": ["--keep-dir", f"{scratch}/chart-keep"]}.get(mode, [])
        done = subprocess.run([headrace, "read", *map(str, where), "--mode", mode, *options, "--batch", "32",
                               "--epochs", str(EPOCHS), "--json"], capture_output=True, text=True, check=True)
        result = json.loads(done.stdout)
        at = result["launch_seconds"]
        points = [(0.0, 0.0), (at, 0.0)]
        for epoch in result["epochs"]:
            points += [(at, epoch["samples_per_second"]), (at + epoch["seconds"], epoch["samples_per_second"])]
            at += epoch["seconds"]
        lines[mode] = points
    return lines


def ticks(most: float) -> list[float]:
    step = 10 ** len(str(int(most))) / 10
    while most / step < 4:
        step /= 2
    return [i * step for i in range(int(most / step) + 1)]


def draw(path: pathlib.Path, lines: dict) -> None:
    longest = max(points[-1][0] for points in lines.values()) * 1.02
    highest = max(rate for points in lines.values() for _, rate in points) * 1.1

    def x(seconds):
        return LEFT + seconds / longest * (WIDTH - LEFT - RIGHT)

    def y(rate):
        return HEIGHT - BOTTOM - rate / highest * (HEIGHT - TOP - BOTTOM)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
           'font-family="sans-serif" font-size="13">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           f'<text x="{LEFT}" y="24" font-size="16">Samples a second over time, {EPOCHS} epochs</text>',
           f'<text x="{LEFT}" y="41" fill="#555">a step an epoch; S3 by --medium {MEDIUM}, direct from local '
           'disk; each line ends with its job</text>']
    for rate in ticks(highest):
        out.append(f'<path d="M{LEFT} {y(rate):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 8}" y="{y(rate) + 4:.1f}" text-anchor="end">{rate:,.0f}</text>')
    for seconds in ticks(longest):
        out.append(f'<path d="M{x(seconds):.1f} {HEIGHT - BOTTOM}v5" stroke="#555"/>'
                   f'<text x="{x(seconds):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{seconds:g} s</text>')
    for mode, points in lines.items():
        path_data = "M" + "L".join(f"{x(s):.1f} {y(r):.1f}" for s, r in points)
        end_x, end_y = x(points[-1][0]), y(points[-1][1])
        out.append(f'<path d="{path_data}" fill="none" stroke="{MODES[mode]}" stroke-width="2"/>'
                   f'<circle cx="{end_x:.1f}" cy="{end_y:.1f}" r="3" fill="{MODES[mode]}"/>'
                   f'<text x="{end_x + 7:.1f}" y="{end_y + 4:.1f}" fill="{MODES[mode]}">{mode}</text>')
    out.append("</svg>")
    path.write_text("\n".join(out) + "\n")
