# SPDX-License-Identifier: Apache-2.0
"""Each numbered sentence of docs/SEMANTICS.md is quoted by a test: `Promise O1: <sentence>`."""

import re

import pytest
from tree import ROOT, files, name

PROMISE = re.compile(r"^\* \*\*([A-Z]\d+)\*\* (.+?)\n(?=\*|\n|\Z)", re.M | re.S)


def squeeze(text: str) -> str:
    """Words only: line ends, comment signs, quotes and indentation make no difference."""
    return " ".join(re.sub(r"^\s*(///|//|#|\*)|\"\"\"", " ", text, flags=re.M).split())


PROMISES = {number: squeeze(text) for number, text in
            PROMISE.findall((ROOT / "docs/SEMANTICS.md").read_text())}
QUOTING = {
    name(path): squeeze(text)
    for path in files("_test.cc", ".py", ".h", ".cc")
    if "Promise " in (text := path.read_text()) and path.name != "test_promises.py"
    and (path.name.endswith(("_test.cc", ".py")) or "testing" in path.parts)
}


def test_there_are_promises_and_no_number_is_used_twice():
    numbers = [number for number, _ in PROMISE.findall((ROOT / "docs/SEMANTICS.md").read_text())]
    assert len(numbers) > 5
    assert len(numbers) == len(set(numbers))


@pytest.mark.parametrize("number", sorted(PROMISES))
def test_a_promise_is_held_by_a_test(number):
    quote = f"Promise {number}: {PROMISES[number]}"
    assert any(quote in text for text in QUOTING.values()), f"no test quotes: {quote}"


def test_no_test_quotes_what_is_not_promised():
    for path, text in QUOTING.items():
        for number in re.findall(r"Promise ([A-Z]\d+):", text):
            assert number in PROMISES, f"{path}: {number} is not in docs/SEMANTICS.md"
            assert f"Promise {number}: {PROMISES[number]}" in text, f"{path}: {number} says another thing"
