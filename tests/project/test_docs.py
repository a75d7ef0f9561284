# SPDX-License-Identifier: Apache-2.0
"""The pages: they exist, their links lead somewhere, and their commands run."""

import os
import re
import subprocess

import pytest
from tree import ROOT, files, name

PAGES = files(".md")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+\s+(.*)$", re.M)
# ```sh test: run by this file, in an empty folder, build/release first on PATH.
RUNNABLE = re.compile(r"^```sh test\n(.*?)^```", re.M | re.S)
FENCED = re.compile(r"^```.*?^```", re.M | re.S)


def anchor(heading: str) -> str:
    """The anchor that a heading gets on the web: lower case, spaces to dashes, the rest dropped."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def test_the_pages_that_a_reader_expects_are_there():
    for page in ["README.md", "docs/ARCHITECTURE.md", "docs/SEMANTICS.md", "docs/DEPENDENCIES.md",
                 "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE"]:
        assert (ROOT / page).is_file(), page


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_relative_links_lead_somewhere(page):
    for link in LINK.findall(FENCED.sub("", page.read_text())):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, part = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name(page)} -> {link}"
        if part and target.suffix == ".md":
            assert part in {anchor(h) for h in HEADING.findall(target.read_text())}, link


def blocks():
    for page in PAGES:
        for number, match in enumerate(RUNNABLE.finditer(page.read_text()), 1):
            yield pytest.param(match.group(1), id=f"{name(page)}#{number}")


@pytest.mark.parametrize("script", list(blocks()))
def test_the_commands_of_a_page_run(script, tmp_path):
    env = {**os.environ, "PATH": f"{ROOT}/build/release:{ROOT}/.venv/bin:{os.environ['PATH']}",
           "HEADRACE_ROOT": str(ROOT), "HOME": str(tmp_path)}
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=tmp_path, env=env,
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{script}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def test_the_messages_of_troubleshooting_are_those_of_the_source():
    source = "".join(path.read_text() for path in files(".cc", ".h") if "src" in path.parts)
    source = re.sub(r'"\s*\n\s*"', "", source)  # a literal over several lines is one message
    page = (ROOT / "docs/TROUBLESHOOTING.md").read_text()
    messages = re.findall(r"^\| `([^`]+)` \|", page, re.M)
    assert len(messages) > 20
    assert not [message for message in messages if message not in source]
