# SPDX-License-Identifier: Apache-2.0
"""What every command has in common."""

import subprocess

import pytest
from cli import HEADRACE, headrace, subcommands


def test_help_lists_commands():
    assert "version" in subcommands()


@pytest.mark.parametrize("command", subcommands())
def test_help_of_a_command_has_examples(command):
    done = headrace(command, "--help")
    assert done.returncode == 0
    assert "Example" in done.stdout and f"headrace {command}" in done.stdout
    assert done.stderr == ""


def test_usage_errors_exit_2_and_say_what_to_do():
    for arguments in [["no-such-command"], ["version", "--no-such-option"], []]:
        done = headrace(*arguments)
        assert done.returncode == 2, arguments
        assert "--help" in done.stderr, arguments
        assert done.stdout == ""


def test_headrace_links_no_libtorch():
    """So that `headrace --help` is instant and the loader's memory is its own."""
    linked = subprocess.run(["ldd", HEADRACE], capture_output=True, text=True, check=True).stdout
    assert "libtorch" not in linked and "libc10" not in linked
    assert "libpython" not in linked
