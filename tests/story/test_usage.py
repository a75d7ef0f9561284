# SPDX-License-Identifier: Apache-2.0
"""Exit code 2: a value that the command line alone shows to be wrong, of every option of every command."""

import re

import pytest
from cli import HEADRACE, headrace, subcommands

# What each command needs to be asked for anything. The set is not there: who looks for it ends with 1.
NEEDED = {
    "bench-decode": ["--data", "/nowhere"],
    "compare": ["/nowhere"],
    "convert": ["/nowhere", "--format", "tar", "--out", "/nowhere/out"],
    "fetch": ["/nowhere", "/nowhere/to"],
    "inspect": ["/nowhere"],
    "keep list": ["--keep-dir", "/nowhere"],
    "keep purge": ["--keep-dir", "/nowhere"],
    "keep stat": ["--keep-dir", "/nowhere"],
    "keep verify": ["--keep-dir", "/nowhere"],
    "keep warm": ["/nowhere", "--keep-dir", "/nowhere"],
    "mount": ["/nowhere", "/nowhere/mount"],
    "pack": ["/nowhere", "--out", "/nowhere/out"],
    "pipe": ["/nowhere", "--dir", "/nowhere/pipes"],
    "read": ["/nowhere"],
    "train": ["--data", "/nowhere"],
    "verify": ["/nowhere"],
    "version": [],
}
# Any text may be right: files, folders, places, and names that are in the user's data.
FREE = {
    "--attribute-names", "--channel", "--checkpoint", "--data", "--dir", "--fitted", "--image-key",
    "--index-dir", "--keep-dir", "--label-key", "--list", "--list-root", "--local", "--name", "--out",
    "--pipe-dir", "--prices", "--quarantine", "--replay", "--report", "--resume", "--sample-weights",
    "--seek-index", "--server-data", "--snapshot-file", "--state", "--store", "--val", "--val-local", "--with",
}


def options_of(command: str) -> dict[str, str]:
    """Those that take a value, as the help lists them, and what kind: TEXT, FLOAT, UINT, …"""
    text = headrace(*command.split(), "--help").stdout
    return dict(re.findall(r"^ +(?:-\w,)?(--[a-z0-9-]+)(?:,--[a-z-]+)* ([^\s:=]+)", text, re.M))


def wrong_values(kind: str) -> list[str]:
    """A process for each: "nan" only where it might be taken for a number, or for a word."""
    return ["!", "nan"] if kind == "FLOAT" else ["nan"] if kind in ("INT", "UINT") else ["!"]


def commands() -> list[str]:
    names = []
    for name in subcommands():
        names += ["keep " + sub for sub in ("list", "stat", "verify", "purge", "warm")] if name == "keep" else [name]
    return names


def test_every_command_is_asked():
    assert sorted(commands()) == sorted(NEEDED)
    assert "--epochs" in options_of("read") and "--filter" in options_of("compare")


@pytest.mark.parametrize("command", sorted(NEEDED))
def test_a_wrong_value_is_a_usage_error_and_names_its_option(command):
    if command == "train" and not (HEADRACE.parent / "headrace-train").exists():
        pytest.skip("headrace-train was not built")
    for option, kind in options_of(command).items():
        if option in FREE:
            continue
        for value in wrong_values(kind):
            done = headrace(*command.split(), *NEEDED[command], f"{option}={value}")
            asked = f"{command} {option}={value}"
            assert done.returncode == 2, f"{asked}: {done.returncode}, {done.stderr}"
            assert value in done.stderr or option in done.stderr, f"{asked}: {done.stderr}"
            assert done.stdout == "", asked


@pytest.mark.parametrize("command, options, says", [
    ("read", "--threads 100000", "100000 decode threads"),
    ("read", "--rank 2 --world-size 2", "rank 2 is outside a world of 2"),
    ("read", "--repeat 1,2", "2 numbers for 1 sets"),
    ("read", "--shares 0", "no sample has a weight"),
    ("read", "--max-bad 2", "is not from 0 to 1"),
    ("read", "--accelerator emulated:1e-300", "emulated:1e-300"),
    ("read", "--format jpeg", "--format"),
    ("read", "--medium floppy", "no medium floppy"),
    ("read", "--partial-reads", "belongs to mode keep"),
    ("read", "--mode pipe --pipe-wait 5", "--pipe-wait belongs to mode pipe with --pipe-dir"),
    ("compare", "--batch 0", "--batch"),
    ("compare", "--shuffle sideways", "sideways"),
    ("compare", "--repeats 0", "repeats"),
    ("compare", "--instance p9.huge", "p9.huge"),
    ("compare", "--medium floppy", "floppy"),
    ("compare", "--keep-medium floppy", "floppy"),
    ("compare", "--modes direct --partial-reads", "partial-reads belongs to mode keep"),
    ("compare", "--partial-reads --epochs 1", "from the second epoch on"),
    ("compare", "--partial-reads --no-decode", "--partial-reads needs pixels"),
    ("convert", "--part 5/4", "no part 5 of 4"),
    ("convert", "--compression bzip2", "bzip2"),
    ("convert", "--split 1", "a share of 1"),
    ("mount", "--format tar", "--format: belongs to --inside"),
    ("mount", "--list a.lst", "--list: belongs to --inside"),
    ("mount", "--on-bad skip", "--on-bad: belongs to --inside"),
    ("mount", "--root-files-skip", "--root-files-skip: belongs to --inside"),
    ("pack", "--source-format jpeg", "--source-format"),
    ("pipe", "--order backwards", "backwards"),
    ("pipe", "--rank 3 --world-size 2", "rank 3"),
    ("train", "--model resnet51", "--model"),
    ("train", "--resume", "--resume needs --checkpoint"),
    ("train", "--rank 1", "--rank")])
def test_values_that_cannot_be_are_usage_errors(command, options, says):
    if command == "train" and not (HEADRACE.parent / "headrace-train").exists():
        pytest.skip("headrace-train was not built")
    done = headrace(command, *NEEDED[command], *options.split())
    assert done.returncode == 2, done.stderr
    assert says in done.stderr


def test_what_the_world_answers_is_a_failure(tmp_path):
    (tmp_path / "empty").mkdir()
    for arguments in (["read", "/nowhere"], ["read", tmp_path / "empty"], ["verify", "/nowhere"],
                      ["compare", "/nowhere"], ["pack", "/nowhere", "--out", tmp_path / "x"],
                      ["inspect", tmp_path / "empty"], ["fetch", "/nowhere", tmp_path / "y"]):
        done = headrace(*arguments)
        assert done.returncode == 1, f"{arguments}: {done.stderr}"
