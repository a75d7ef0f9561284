# SPDX-License-Identifier: Apache-2.0
"""What the programs bench/*/run have in common: values with their median, spread and goal, a table
of them, and a command line. Repeats are interleaved by whoever measures; a goal is a ratio within
one run where it can be, since a machine's own rates say little about another."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build/release"
HEADRACE = BUILD / "headrace"
COUNT = 1000  # photographs, if none are given


class Measured:
    """Values of one quantity, and the goal that it must reach."""

    def __init__(self, name, unit, goal="", reached=lambda value: True):
        self.name, self.unit, self.goal, self.reached = name, unit, goal, reached
        self.values = []

    def median(self):
        return statistics.median(self.values)

    def spread(self):
        return (max(self.values) - min(self.values)) / self.median() if self.median() else 0.0

    def row(self):
        verdict = "" if not self.goal else "yes" if self.reached(self.median()) else "NO"
        return [self.name, f"{self.median():.4g} {self.unit}".strip(), f"{self.spread():.1%}",
                str(len(self.values)), self.goal, verdict]


def at_least(least):
    """Goal and test of a ratio."""
    return {"goal": f">= {least:g}", "reached": lambda value: value >= least}


def table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                     for row in rows)


def photographs(count=COUNT):
    """A labelled folder of JPEGs in build/, made if it is not there."""
    data = ROOT / ("build/photos" if count == COUNT else f"build/photos-{count}")
    if not data.is_dir():
        subprocess.run([ROOT / ".venv/bin/python", ROOT / "scripts/make-photos", "--out", data,
                        "--count", str(count)], check=True, stdout=sys.stderr)
    return data


def main(doc, parts):
    """Measures `parts`, a name to a function (data, repeats) -> [Measured], and prints a table."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, help="labelled folder of JPEGs")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", choices=parts, action="append", help="these parts only")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    data = options.data or photographs()
    measured = []
    for part in options.only or parts:
        measured += parts[part](data, options.repeats)
    if options.json:
        print(json.dumps({"schema": 1, "cores": os.cpu_count(), "rows": [
            {"name": m.name, "unit": m.unit, "goal": m.goal, "median": m.median(), "spread": m.spread(),
             "values": m.values} for m in measured]}, indent=1))
    else:
        print(table([["measured", "median", "spread", "n", "goal", "reached"], *[m.row() for m in measured]]))
    sys.exit(0 if all(m.reached(m.median()) for m in measured) else 1)
