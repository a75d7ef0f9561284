# SPDX-License-Identifier: Apache-2.0
"""A listing that is kept: the next job asks for none, and what changed since is named."""

import os
import resource

from cli import headrace, headrace_json
from fault_server import FaultServer


def read(uri, *options, env):
    return headrace_json("read", uri, "--batch", 16, "--seed", 7, "--no-decode", "--mode", "stream",
                         *options, env=env)


def digest(result):
    return result["epochs"][0]["order_digest"]


def kept(tmp_path, env):
    return {**env, "HEADRACE_SNAPSHOT_DIR": str(tmp_path / "snapshots")}


def test_reuse_lists_nothing_and_delivers_the_same(labelled, tmp_path):
    with FaultServer(labelled, "--page", 30) as server:
        env = kept(tmp_path, server.env)
        plain = read("s3://b", env=env)
        first = read("s3://b", "--snapshot", "refresh", env=env)
        again = read("s3://b", "--snapshot", "reuse", env=env)
    assert digest(plain) == digest(first) == digest(again)
    assert first["totals"]["requests_list"] > 0
    assert again["totals"]["requests_list"] == 0
    assert any(n["kind"] == "snapshot" and "ago" in n["text"] for n in again["notices"])
    assert len(os.listdir(tmp_path / "snapshots")) == 1


def test_an_object_that_changed_since_is_named(tmp_path):
    picture = tmp_path / "set" / "cat" / "1.jpg"
    picture.parent.mkdir(parents=True)
    picture.write_bytes(b"one")
    file = tmp_path / "kept"
    options = ("--no-decode", "--snapshot", "reuse", "--snapshot-file", file)
    assert headrace("read", tmp_path / "set", *options).returncode == 0
    picture.write_bytes(b"another")
    done = headrace("read", tmp_path / "set", *options)
    assert done.returncode == 1
    assert "changed" in done.stderr and "cat/1.jpg" in done.stderr
    assert headrace("read", tmp_path / "set", *options[:2], "refresh", *options[3:]).returncode == 0


def processor_seconds(*arguments, env):
    """Of a run; the least of three."""
    least = 1e9
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = headrace("read", "s3://b", *arguments, env=env)
        assert done.returncode == 0, done.stderr
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return least


def test_the_time_to_start_does_not_depend_on_the_sets_size(tmp_path):
    """Of 100 times as many objects in as many classes; by processor time, and nothing is asked."""
    (tmp_path / "none").mkdir()
    reuse, refresh = {}, {}
    for keys in (3_000, 300_000):
        with FaultServer(tmp_path / "none", "--classes", 100, "--keys", keys) as server:
            env = kept(tmp_path / str(keys), server.env)
            options = ("--batch", 1, "--no-decode", "--mode", "stream", "--epochs", 0)
            refresh[keys] = processor_seconds(*options, "--snapshot", "refresh", env=env)
            reuse[keys] = processor_seconds(*options, "--snapshot", "reuse", env=env)
    assert reuse[300_000] < 3 * reuse[3_000], (reuse, refresh)
    assert reuse[300_000] < refresh[300_000] / 3, (reuse, refresh)


def test_options_that_do_not_fit_are_refused(labelled, tmp_path):
    done = headrace("read", labelled, "--snapshot-file", tmp_path / "x")
    assert done.returncode == 2 and "--snapshot" in done.stderr
    done = headrace("read", labelled, "--mode", "fastfile", "--snapshot", "reuse")
    assert done.returncode == 2 and "--snapshot" in done.stderr


def test_a_missing_mount_is_refused_and_what_is_there_is_said(labelled):
    done = headrace("read", labelled, "--expect", "lustre")
    assert done.returncode == 1
    assert "mount it first" in done.stderr and "stands on" in done.stderr
    assert headrace_json("read", labelled, "--expect", "local", "--no-decode")["stands_on"]
    assert headrace_json("inspect", labelled)["stands_on"]
    done = headrace("read", "s3://b/p", "--expect", "nfs")
    assert done.returncode == 1 and "--expect" in done.stderr
