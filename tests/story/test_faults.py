# SPDX-License-Identifier: Apache-2.0
"""Bad days: whatever an S3 server does now and then, the bytes are the same; what it does always
is an error that says so."""

import json
import os
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


def test_twenty_epochs_of_sixteen_threads_ask_no_more_at_the_end_than_at_the_beginning(labelled, expected):
    with FaultServer(labelled, "--checksums", short_body=0.02, reset=0.02, no_answer=0.02) as server:
        got = headrace_json("read", "s3://b", "--batch", 16, "--seed", 7, "--epochs", 20, "--threads", 16, "--no-decode",
                            "--mode", "stream", env=server.env)
    assert digests(got)[:3] == expected
    assert len({epoch["set_digest"] for epoch in got["epochs"]}) == 1
    asked = [epoch["requests"] for epoch in got["epochs"]]
    assert sum(asked[10:]) < 1.2 * sum(asked[:10])
    assert max(asked) < 2 * 100  # pictures in an epoch


def test_an_outage_is_ridden_out(labelled, expected):
    """Twelve seconds in which no request is answered: more than ten attempts last. scripts/test-long has a minute."""
    with FaultServer(labelled, "--checksums", "--outage", "0:12") as server:
        got = read("s3://b", "--mode", "stream", env=server.env)
    assert digests(got) == expected
    assert retries(got) > 0


@pytest.mark.parametrize("limit", ["-Sn", "-n"], ids=["soft", "hard"])
def test_few_descriptors_are_enough(limit, labelled, expected):
    """The soft limit is raised as far as it may be; where that is no further, fewer connections must do, though
    answers that are slow would have it open more."""
    with FaultServer(labelled, slow_first_byte=0.1) as server:
        done = subprocess.run(["bash", "-c", f'ulimit {limit} 24; exec "$@"', "bash", HEADRACE, "read", "s3://b",
                               "--mode", "stream", "--batch", "16", "--seed", "7", "--epochs", "3", "--no-decode",
                               "--json"], env=server.env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert digests(json.loads(done.stdout)) == expected


@pytest.mark.skipif("HEADRACE_LONG" not in os.environ, reason="a minute and more: scripts/test-long runs it")
@pytest.mark.timeout(300)
def test_an_outage_of_a_minute_is_ridden_out(labelled, expected):
    with FaultServer(labelled, "--checksums", "--outage", "0:60") as server:
        got = read("s3://b", "--mode", "stream", env=server.env)
    assert digests(got) == expected
