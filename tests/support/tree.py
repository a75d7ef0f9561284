# SPDX-License-Identifier: Apache-2.0
"""The source tree as the project tests see it; needs no .git, so an exported tree is tested too."""

import functools
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
GENERATED = {".git", "build", ".venv", ".whl", ".cache", ".pytest_cache", "__pycache__"}


@functools.cache
def files(*suffixes: str) -> list[pathlib.Path]:
    """Every file that is kept in the repository; with suffixes, only those that end so."""
    found = []
    folders = [ROOT]
    while folders:
        for path in sorted(folders.pop().iterdir()):
            if path.name in GENERATED or path.suffix == ".egg-info":
                continue
            if path.is_dir() and not path.is_symlink():
                folders.append(path)
            elif not suffixes or path.name.endswith(suffixes):
                found.append(path)
    return sorted(found)


def is_text(path: pathlib.Path) -> bool:
    return b"\0" not in path.read_bytes()[:8192]


def name(path: pathlib.Path) -> str:
    return str(path.relative_to(ROOT))
