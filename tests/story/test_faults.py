# SPDX-License-Identifier: Apache-2.0
"""Bad days: whatever an S3 server does now and then, the bytes are the same; what it does always
is an error that says so."""

import subprocess
import time

import pytest
from cli import HEADRACE, headrace_json
from fault_server import FaultServer

FAULTS = ["slow_down", "slow_down_burst", "internal_error", "request_timeout", "short_body", "reset", "no_answer",
          "wrong_length", "damaged", "stale_etag", "missing_etag", "precondition", "slow_first_byte", "garbage_list"]
UNSEEN = {"missing_etag", "slow_first_byte"}  # no retry is needed
# What each is at 100 %: the words that must be in the error.
HOPELESS = {"slow_down": "503", "short_body": "gave up after", "wrong_length": "gave up after",
            "damaged": "checksum", "stale_etag": "changed", "precondition": "changed",
            "garbage_list": "LIST"}


def read(uri, *options, env=None):
    return headrace_json("read", uri, "--batch", 16, "--seed", 7, "--epochs", 3, *options, env=env)


def digests(result):
    return [(epoch["order_digest"], epoch["set_digest"]) for epoch in result["epochs"]]


@pytest.fixture(scope="module")
def expected(labelled):
    return digests(read(labelled))


def retries(result):
    return sum(epoch["retries"] for epoch in result["epochs"])


def through(folder, expected, **faults):
    with FaultServer(folder, "--checksums", "--page", 30, **faults) as server:
        got = read("s3://b", "--mode", "stream", env=server.env)
    assert digests(got) == expected
    return got, server.report


# Promise M5: What an S3 server does wrong now and then changes no byte and no order.
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_each_tenth_request_changes_nothing(fault, labelled, expected):
    got, report = through(labelled, expected, **{fault: 0.1})
    happened = report["faults"].get(fault.replace("_", "-"), 0)
    if fault not in UNSEEN and fault != "garbage_list" and happened > 5:
        assert retries(got) > 0


@pytest.mark.parametrize("rate", [0.001, 0.01])
def test_all_faults_at_once_change_nothing(rate, labelled, expected):
    through(labelled, expected, **{fault: rate for fault in FAULTS})


def test_a_fault_of_every_request_is_an_error_that_says_so(labelled):
    """Ten attempts with pauses of at most 5 s: all at once, since each takes its time."""
    servers = {fault: FaultServer(labelled, "--checksums", **{fault: 1}) for fault in HOPELESS}
    begin = time.monotonic()
    running = {}
    try:
        for fault, server in servers.items():
            server.__enter__()
            running[fault] = subprocess.Popen(
                [HEADRACE, "read", "s3://b", "--mode", "stream"], env=server.env, text=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for fault, process in running.items():
            _, errors = process.communicate(timeout=150)  # the retry budget is two minutes
            assert process.returncode == 1, f"{fault}: {errors}"
            assert HOPELESS[fault] in errors, f"{fault}: {errors}"
            assert "s3://b/" in errors, f"{fault}: {errors}"
    finally:
        for process in running.values():
            process.kill()
            process.wait()
        for fault in running:
            servers[fault].__exit__()
    assert time.monotonic() - begin < 150
