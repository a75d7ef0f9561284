# SPDX-License-Identifier: Apache-2.0
"""What scripts/setup installs is what docs/DEPENDENCIES.md explains."""

import re

from tree import ROOT

PAGE = (ROOT / "docs/DEPENDENCIES.md").read_text()


def debian_packages() -> list[str]:
    text = (ROOT / "scripts/setup").read_text()
    body = re.search(r"^packages=\((.*?)^\)", text, re.M | re.S).group(1)
    return [word for line in body.splitlines() for word in line.split("#")[0].split()]


def test_each_debian_package_is_explained():
    assert len(debian_packages()) > 20
    assert not [name for name in debian_packages() if f"`{name}`" not in PAGE]


def test_each_python_package_is_pinned_and_explained():
    lines = (ROOT / "scripts/requirements.txt").read_text().splitlines()
    for line in (line for line in lines if line and not line.startswith("#")):
        assert re.fullmatch(r"[a-z0-9-]+==[0-9.]+", line), f"{line}: one version, exactly"
        assert f"`{line}`" in PAGE


def test_each_library_that_cmake_finds_is_explained():
    text = (ROOT / "cmake/Dependencies.cmake").read_text()
    names = re.findall(r"find_package\((\w[\w-]*)|IMPORTED_TARGET (?:lib)?(\w+)", text)
    known = {"Threads", "PkgConfig"}
    squeezed = re.sub(r"[^a-z0-9]", "", PAGE.lower())
    for name in (a or b for a, b in names):
        if name not in known:
            assert re.sub(r"[^a-z0-9]", "", name.lower()) in squeezed, name
