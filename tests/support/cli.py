# SPDX-License-Identifier: Apache-2.0
"""The real binary, run as a user runs it."""

import json
import os
import pathlib
import re
import subprocess

from tree import ROOT

BUILD = pathlib.Path(os.environ.get("HEADRACE_BUILD", ROOT / "build/release"))
HEADRACE = BUILD / "headrace"
TIMEOUT = 120  # seconds; a command that needs more hangs


def headrace(*arguments, timeout=TIMEOUT, **options) -> subprocess.CompletedProcess:
    """Runs headrace to its end; output as text. Never raises for an exit code."""
    return subprocess.run([HEADRACE, *map(str, arguments)], capture_output=True, text=True,
                          timeout=timeout, stdin=subprocess.DEVNULL, **options)


def headrace_json(*arguments, **options) -> dict:
    """Runs a command with --json that must succeed; its one object."""
    done = headrace(*arguments, "--json", **options)
    assert done.returncode == 0, f"{arguments}: exit {done.returncode}\n{done.stderr}"
    return json.loads(done.stdout)


def subcommands() -> list[str]:
    """The names that `headrace --help` lists."""
    text = headrace("--help").stdout
    listed = re.split(r"^[A-Z]*ubcommands:\s*$", text, flags=re.M | re.I)[-1]
    return re.findall(r"^  ([a-z][a-z-]*)\b", listed, re.M)
