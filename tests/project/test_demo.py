# SPDX-License-Identifier: Apache-2.0
"""scripts/demo in a clone in which nothing was built yet, with a build that fails."""
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def program(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_a_build_that_fails_in_a_clean_clone_says_why(tmp_path):
    scripts, programs = tmp_path / "clone/scripts", tmp_path / "bin"
    scripts.mkdir(parents=True)
    programs.mkdir()
    shutil.copy(ROOT / "scripts/demo", scripts)
    program(scripts / "setup", "exit 0")
    program(programs / "cmake", 'echo "no compiler"; exit 1')
    done = subprocess.run([scripts / "demo"], capture_output=True, text=True,
                          env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"})
    assert done.returncode == 1
    assert done.stderr == "no compiler\n"
