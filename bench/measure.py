# SPDX-License-Identifier: Apache-2.0
"""What the programs bench/*/run have in common: values with their median, spread and goal, a table
of them, and a command line. Repeats are interleaved by whoever measures; a goal is a ratio within
one run where it can be, since a machine's own rates say little about another."""
import argparse
import contextlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

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
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths)).rstrip()
                     for row in rows)


def report(measured, as_json):
    """Prints a table of Measured, or one JSON object; ends the program, with 1 if a goal is missed."""
    if as_json:
        print(json.dumps({"schema": 1, "cores": os.cpu_count(), "rows": [
            {"name": m.name, "unit": m.unit, "goal": m.goal, "median": m.median(), "spread": m.spread(),
             "values": m.values} for m in measured]}, indent=1))
    else:
        print(table([["measured", "median", "spread", "n", "goal", "reached"], *[m.row() for m in measured]]))
    sys.exit(0 if all(m.reached(m.median()) for m in measured) else 1)


def photographs(count=COUNT):
    """A labelled folder of JPEGs in build/, made if it is not there."""
    data = ROOT / ("build/photos" if count == COUNT else f"build/photos-{count}")
    if not data.is_dir():
        subprocess.run([ROOT / ".venv/bin/python", ROOT / "scripts/make-photos", "--out", data,
                        "--count", str(count)], check=True, stdout=sys.stderr)
    return data


def read(*arguments):
    """Runs `headrace read --json`; its object, and the peak of its private memory in MiB."""
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen([HEADRACE, "read", *map(str, arguments), "--json"], stdout=out)
        peak = 0
        while child.poll() is None:
            peak = max(peak, private_mib(child.pid))
            time.sleep(0.02)
        if child.returncode != 0:
            sys.exit(f"headrace read {arguments}: exit {child.returncode}")
        out.seek(0)
        return json.load(out), peak


def private_mib(pid):
    """Memory of its own, which no file stands behind."""
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"^RssAnon:\s+(\d+) kB", text, re.M)
    return int(found.group(1)) / 1024 if found else 0


@contextlib.contextmanager
def s3_server(folder):
    """A real S3 server whose files are in `folder`; gives the AWS variables."""
    started = subprocess.run([ROOT / "scripts/s3-server", "start", folder], check=True, capture_output=True,
                             text=True).stdout
    lines = [line.removeprefix("export ").split("=", 1) for line in started.splitlines()]
    try:
        yield {name: value.strip("'\"") for name, value in lines}
    finally:
        subprocess.run([ROOT / "scripts/s3-server", "stop", folder], check=True)


@contextlib.contextmanager
def server(scratch, data):
    """Such a server with the data in it; gives the URI, sets the AWS variables."""
    with s3_server(f"{scratch}/s3") as variables:
        os.environ.update(variables)
        uri = f"s3://{os.environ['HEADRACE_TEST_S3_BUCKET']}/bench"
        subprocess.run([ROOT / "scripts/s3-upload", data, uri], check=True, stdout=subprocess.DEVNULL)
        yield uri


def make_cold(paths):
    """Puts files out of the page cache, and proves it by mincore (fincore of util-linux)."""
    paths = [pathlib.Path(path) for path in paths]
    for path in paths:
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    listed = []
    for begin in range(0, len(paths), 1000):  # a command line has its limit
        listed += subprocess.run(["fincore", "--bytes", "--noheadings", "--output", "PAGES",
                                  *paths[begin:begin + 1000]],
                                 check=True, capture_output=True, text=True).stdout.split()
    pages = sum(map(int, listed))
    if len(listed) != len(paths) or pages:
        sys.exit(f"not cold: {pages} pages of {len(paths)} files stay in the page cache")


def at_most(most):
    """Goal and test of a quantity that should be small."""
    return {"goal": f"<= {most:g}", "reached": lambda value: value <= most}


def main(doc, parts, options=()):
    """Measures `parts`, a name to a function (data, repeats) -> [Measured], and prints a table. Further
    options are (name, default, help), for whole numbers; parts that want them have a third parameter."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, help="labelled folder of JPEGs")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", choices=parts, action="append", help="these parts only")
    parser.add_argument("--json", action="store_true")
    for name, default, text in options:
        parser.add_argument(name, type=int, default=default, help=f"{text} [{default}]")
    given = parser.parse_args()
    data = given.data or photographs()
    measured = []
    for name in given.only or parts:
        part = parts[name]
        more = [given] if part.__code__.co_argcount > 2 else []
        measured += part(data, given.repeats, *more)
    report(measured, given.json)
