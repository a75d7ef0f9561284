# SPDX-License-Identifier: Apache-2.0
"""The same data from a real S3 server, in every mode that reads one; and servers that fail."""

import subprocess
import threading

import pytest
import proxy
import sets
from cli import HEADRACE, headrace, headrace_json


def read(uri, *options, env):
    return headrace_json("read", uri, "--batch", 16, "--seed", 7, *options, env=env)


def digests(result):
    return [(epoch["order_digest"], epoch["set_digest"]) for epoch in result["epochs"]]


@pytest.fixture(scope="session")
def expected(labelled):
    return digests(headrace_json("read", labelled, "--batch", 16, "--seed", 7, "--epochs", 2))


def mode_options(mode, tmp_path):
    return {"file": ["--local", tmp_path / "copy"], "keep": ["--keep-dir", tmp_path / "keep"]}.get(mode, [])


# Promise M1: Every mode delivers the same samples in the same order.
@pytest.mark.parametrize("mode", ["stream", "file", "keep"])
def test_a_mode_delivers_the_folder_as_a_disk_does(mode, labelled_s3, expected, s3_environment, tmp_path):
    got = read(labelled_s3, "--mode", mode, "--epochs", 2, *mode_options(mode, tmp_path), env=s3_environment)
    assert digests(got) == expected


@pytest.mark.parametrize("mode", ["stream", "file", "keep", "pipe"])
def test_a_mode_delivers_the_container_as_a_disk_does(mode, packed_s3, expected, s3_environment, tmp_path):
    got = read(packed_s3, "--mode", mode, "--epochs", 2, *mode_options(mode, tmp_path), env=s3_environment)
    assert digests(got) == expected


def test_keep_reads_the_origin_once(labelled_s3, s3_environment, tmp_path):
    got = read(labelled_s3, "--mode", "keep", "--keep-dir", tmp_path / "keep", "--epochs", 3, env=s3_environment)
    first, *later = got["epochs"]
    assert first["bytes_origin"] > 0
    # So small a set is read ahead while it is written. A read waits for a write, but not for ever: on a machine that
    # stands still for a second, an object may be asked for once more.
    assert later[0]["bytes_origin"] <= 0.02 * first["bytes_origin"] and later[1]["bytes_origin"] == 0
    assert all(epoch["bytes_cache"] > 0 for epoch in later)
    again = read(labelled_s3, "--mode", "keep", "--keep-dir", tmp_path / "keep", env=s3_environment)
    assert again["epochs"][0]["bytes_origin"] < 0.02 * first["bytes_origin"]  # a look at the format


def test_fetch_copies_every_byte(labelled, labelled_s3, s3_environment, tmp_path):
    done = headrace("fetch", labelled_s3, tmp_path / "copy", env=s3_environment)
    assert done.returncode == 0, done.stderr
    assert sets.samples(tmp_path / "copy") == sets.samples(labelled)


def through(gateway, env):
    return {**env, "AWS_ENDPOINT_URL": gateway.url}


@pytest.mark.parametrize("rule", [proxy.slow_down(1), proxy.cut_bodies(1)], ids=["503", "cut"])
def test_what_passes_is_retried_and_counted(rule, labelled_s3, expected, s3_environment):
    with proxy.Proxy(s3_environment["HEADRACE_TEST_S3_ENDPOINT"], rule) as gateway:
        got = read(labelled_s3, "--mode", "stream", "--epochs", 2, env=through(gateway, s3_environment))
    assert digests(got) == expected
    assert got["epochs"][0]["retries"] > 0


def test_what_does_not_pass_fails_the_job(labelled_s3, s3_environment):
    with proxy.Proxy(s3_environment["HEADRACE_TEST_S3_ENDPOINT"], proxy.slow_down(1_000_000)) as gateway:
        done = headrace("read", labelled_s3, "--mode", "stream", env=through(gateway, s3_environment))
    assert done.returncode == 1 and "unavailable" in done.stderr and "503" in done.stderr


@pytest.mark.parametrize("mode", ["stream", "keep"])
def test_a_server_without_etags_is_read_all_the_same(mode, labelled_s3, expected, s3_environment, tmp_path):
    with proxy.Proxy(s3_environment["HEADRACE_TEST_S3_ENDPOINT"], proxy.strip_etags) as gateway:
        got = read(labelled_s3, "--mode", mode, "--epochs", 2, *mode_options(mode, tmp_path),
                   env=through(gateway, s3_environment))
    assert digests(got) == expected


# Promise M2: An object that changes during a run is an error that names it, never a mixture of
# two versions.
def test_an_object_that_changes_is_named(bucket, labelled, s3_environment):
    uri = bucket.upload(labelled, "changing")
    lock, changed = threading.Lock(), []

    def replace(request):
        with lock:  # after the listing: one class is replaced when it is asked for, the rest waits
            if request.method == "GET" and "/class-1/" in request.path and not changed:
                changed.extend(range(25))
                for i in changed:
                    bucket.put(f"changing/class-1/{i}.jpg", sets.picture(1000 + i))

    with proxy.Proxy(s3_environment["HEADRACE_TEST_S3_ENDPOINT"], lambda request, answer: answer,
                     before=replace) as gateway:
        done = headrace("read", uri, "--mode", "stream", env=through(gateway, s3_environment))
    assert done.returncode == 1, done.stderr
    assert "changed" in done.stderr and "class-1/" in done.stderr


@pytest.mark.parametrize("when", ["it lists", "it reads"])
def test_keys_that_arrive_meanwhile_change_nothing(when, bucket, labelled, expected, s3_environment):
    """One listing is the job's set: what comes later is of the next job."""
    uri = bucket.upload(labelled, f"growing-{when[3:]}")
    lock, numbers, looks = threading.Lock(), iter(range(20)), []

    def grow(request):
        with lock:
            if "list-type" in request.path:
                grows = when == "it lists"
            else:
                looks.append(request.path)  # first at what the URI is, and at one object's format
                grows = when == "it reads" and sum(".jpg" in path for path in looks) > 1
            if grows and (number := next(numbers, None)) is not None:
                bucket.put(f"growing-{when[3:]}/class-1/new-{number}.jpg", sets.picture(number))

    with proxy.Proxy(s3_environment["HEADRACE_TEST_S3_ENDPOINT"], lambda request, answer: answer,
                     before=grow) as gateway:
        got = read(uri, "--mode", "stream", "--epochs", 2, env=through(gateway, s3_environment))
    lists = [request.number for request in gateway.requests if "list-type" in request.path]
    _, *objects = [request.number for request in gateway.requests if ".jpg" in request.path]
    assert max(lists) < min(objects), "nothing is listed again"
    assert next(numbers, 20) > 2, "some arrived"
    if when == "it reads":
        assert digests(got) == expected
    else:
        assert got["epochs"][0]["set_digest"] == got["epochs"][1]["set_digest"]


def test_wrong_keys_are_denied(labelled_s3, s3_environment):
    env = {**s3_environment, "AWS_SECRET_ACCESS_KEY": "wrong"}
    done = headrace("read", labelled_s3, env=env)
    assert done.returncode == 1 and "denied" in done.stderr
    assert "wrong" not in done.stderr, "a secret is never printed"


def test_a_server_that_is_down_is_unavailable(labelled_s3, s3_environment):
    done = headrace("read", labelled_s3, env={**s3_environment, "AWS_ENDPOINT_URL": "http://127.0.0.1:9"})
    assert done.returncode == 1 and "127.0.0.1:9" in done.stderr


def test_an_empty_prefix_and_a_missing_bucket_are_errors(bucket, s3_environment):
    done = headrace("read", bucket.uri("nothing-here"), env=s3_environment)
    assert done.returncode == 1 and "nothing-here" in done.stderr
    done = headrace("read", "s3://no-such-bucket-here/x", env=s3_environment)
    assert done.returncode == 1 and "no-such-bucket-here" in done.stderr


def on_a_small_disk(folder, command, env, size="256k"):
    """Runs the command with a tiny file system mounted at `folder`, in a mount namespace."""
    tried = subprocess.run(["unshare", "--map-root-user", "--mount", "true"], capture_output=True, text=True)
    if tried.returncode != 0:
        pytest.skip("no mount namespaces here: " + tried.stderr)
    folder.mkdir()
    script = f'mount -t tmpfs -o size={size} none "$1"; shift; exec "$@"'
    return subprocess.run(["unshare", "--map-root-user", "--mount", "bash", "-ec", script, "-", folder,
                           *map(str, command)], capture_output=True, text=True, timeout=120, env=env)


@pytest.fixture(scope="session")
def larger_s3(bucket, tmp_path_factory):
    """About 2 MB: more than the small disk of these stories holds."""
    folder = sets.folder(tmp_path_factory.mktemp("larger") / "set", width=400, height=300)
    return bucket.upload(folder, "larger")


def test_a_full_disk_is_an_error_of_fetch(larger_s3, s3_environment, tmp_path):
    done = on_a_small_disk(tmp_path / "disk", [HEADRACE, "fetch", larger_s3, tmp_path / "disk/copy"], s3_environment)
    assert done.returncode == 1, done.stderr
    assert "free" in done.stderr and str(tmp_path / "disk") in done.stderr


def test_a_full_disk_costs_keep_its_cache_and_no_sample(larger_s3, s3_environment, tmp_path):
    """What cannot be kept is read from the origin: slower, the same samples."""
    reading = [HEADRACE, "read", larger_s3, "--mode", "keep", "--keep-dir", tmp_path / "disk/keep",
               "--epochs", "2", "--json"]
    done = on_a_small_disk(tmp_path / "disk", reading, s3_environment)
    if done.returncode == 0:
        assert '"delivered":100' in done.stdout.replace(" ", "")
    else:
        assert "No space left" in done.stderr or "exhausted" in done.stderr
