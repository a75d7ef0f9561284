# SPDX-License-Identifier: Apache-2.0
"""Real processes on one cache and one S3 server: nothing is fetched twice, nobody waits for a dead one."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest
import sets
from cli import HEADRACE, headrace_json
from proxy import Proxy

OBJECTS = 240
PROCESSES = 4
READ = ["--mode", "keep", "--batch", "16", "--threads", "1", "--no-decode"]


@pytest.fixture(scope="module")
def pictures(tmp_path_factory) -> pathlib.Path:
    return sets.folder(tmp_path_factory.mktemp("shared") / "set", classes=4, per_class=OBJECTS // 4)


@pytest.fixture(scope="module")
def uri(pictures, bucket) -> str:
    return bucket.upload(pictures, "shared")


@contextlib.contextmanager
def counted(env):
    """The server behind a proxy that takes 20 ms for an answer, and counts."""

    def slowly(request):
        if request.method == "GET" and "list-type" not in request.path:
            time.sleep(0.02)

    with Proxy(env["HEADRACE_TEST_S3_ENDPOINT"], lambda _, answer: answer, before=slowly) as gateway:
        yield gateway, {**env, "AWS_ENDPOINT_URL": gateway.url}


def gets(gateway) -> int:
    return sum(r.method == "GET" and ".jpg" in r.path and "list-type" not in r.path
               for r in list(gateway.requests))


def looks(results) -> int:
    """Each process looks at one object to find the format: in a large set that is nothing."""
    return len(results)


def start(uri, cache, env, *options) -> subprocess.Popen:
    return subprocess.Popen([HEADRACE, "read", uri, *READ, "--keep-dir", cache, *options, "--json"],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)


def finish(process) -> dict:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err.decode()
    return json.loads(out)


# Promise M6: Processes that share a node cache fetch an object once, unless one of them stands still.
@pytest.mark.parametrize("seeds", [(1, 1, 1, 1), (1, 2, 3, 4)], ids=["same order", "other orders"])
def test_four_jobs_fetch_each_object_once(seeds, uri, pictures, s3_environment, tmp_path):
    with counted(s3_environment) as (gateway, env):
        running = [start(uri, tmp_path / "cache", env, "--seed", str(seed)) for seed in seeds]
        results = [finish(process) for process in running]
        assert gets(gateway) - looks(results) <= 1.02 * OBJECTS
    digest = sets.set_digest(sets.samples(pictures))
    for result in results:
        assert [e["set_digest"] for e in result["epochs"]] == [digest]
    first = results[0]["epochs"][0]
    assert first["bytes_origin"] + first["bytes_cache"] >= sum(len(p) for _, p in sets.samples(pictures))


def test_the_ranks_of_a_job_fetch_each_object_once_in_all_epochs(uri, s3_environment, tmp_path):
    with counted(s3_environment) as (gateway, env):
        ranks = [start(uri, tmp_path / "cache", env, "--epochs", "3", "--rank", str(rank),
                       "--world-size", str(PROCESSES)) for rank in range(PROCESSES)]
        results = [finish(rank) for rank in ranks]
        assert gets(gateway) - looks(results) <= 1.02 * OBJECTS


def test_a_process_that_is_stopped_or_killed_holds_no_other_up(uri, s3_environment, tmp_path):
    with counted(s3_environment) as (gateway, env):
        wanted = [e["order_digest"] for e in
                  headrace_json("read", uri, *READ[2:], "--mode", "stream", env=env)["epochs"]]
        for how in (signal.SIGSTOP, signal.SIGKILL):
            cache = tmp_path / how.name
            held = start(uri, cache, env)
            before = gets(gateway)
            while gets(gateway) < before + 20:  # in the middle of its fetches
                time.sleep(0.001)
            os.kill(held.pid, how)
            try:
                other = finish(start(uri, cache, env))
                assert [e["order_digest"] for e in other["epochs"]] == wanted
            finally:
                held.kill()
                held.communicate()
