# SPDX-License-Identifier: Apache-2.0
"""Rooms include in one direction: the table of docs/ARCHITECTURE.md, read and held."""

import re

import pytest
from tree import ROOT, files, name

INCLUDE = re.compile(r'^\s*#\s*include\s+"headrace/([^"]+)"', re.M)


def table() -> dict[str, set[str]]:
    """Room -> rooms it may include, from the table whose header ends with `may include`."""
    rooms: dict[str, set[str]] = {}
    inside = False
    for line in (ROOT / "docs/ARCHITECTURE.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif cells[0] == "room" and cells[-1] == "may include":
            inside = True
        elif inside and not set(cells[0]) <= set("-: "):
            allowed = set() if cells[-1] in {"–", "-", ""} else set(re.split(r",\s*", cells[-1]))
            rooms[cells[0]] = allowed
    return rooms


ROOMS = table()


def room_of(path_below_src: str) -> str | None:
    """The longest room name that is a prefix: `consumers/pipe`, not `consumers`."""
    fitting = [room for room in ROOMS if path_below_src.startswith(room + "/")]
    return max(fitting, key=len, default=None)


def test_the_table_names_rooms_that_are_there_and_only_those():
    sources = [name(path).removeprefix("src/") for path in files(".h", ".cc") if "src" in path.parts]
    homeless = [path for path in sources if room_of(path) is None]
    assert not homeless, "files of no room in docs/ARCHITECTURE.md"
    assert {room_of(path) for path in sources} <= set(ROOMS)
    for room, allowed in ROOMS.items():
        assert allowed <= set(ROOMS), f"{room} may include rooms that the table does not have"


def test_the_table_has_no_cycle():
    left = dict(ROOMS)
    while left:
        free = [room for room, allowed in left.items() if not allowed & set(left)]
        assert free, f"a cycle among {sorted(left)}"
        for room in free:
            del left[room]


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_a_room_includes_only_what_the_table_allows(room):
    wrong = []
    for path in files(".h", ".cc"):
        below = name(path).removeprefix("src/")
        if below == name(path) or room_of(below) != room:
            continue
        for included in INCLUDE.findall(path.read_text()):
            target = room_of(included)
            if target != room and target not in ROOMS[room]:
                wrong.append(f"{name(path)} includes {included}")
    assert not wrong


def test_cmake_gives_a_room_no_more_than_the_table():
    text = (ROOT / "CMakeLists.txt").read_text()
    lines = re.findall(r"^room\((\S+)((?:\s+[^)]*)?)\)", text, re.M)
    assert lines
    for room, arguments in lines:
        uses = re.search(r"USES\s+(.*?)(?:\s+LINKS\b|$)", arguments, re.S)
        assert set(uses.group(1).split() if uses else []) <= ROOMS[room], room
