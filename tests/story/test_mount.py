# SPDX-License-Identifier: Apache-2.0
"""`headrace mount` as a user runs it, on the real kernel; and mode fastfile, which stands on it."""

import contextlib
import errno
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

import pytest
import proxy
import sets
from cli import HEADRACE, headrace, headrace_json
from fault_server import FaultServer


def why_not() -> str:
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        return "this machine has no usable /dev/fuse"
    return ""


needs_fuse = pytest.mark.skipif(bool(why_not()), reason=why_not())


def covered(folder) -> bool:
    return any(line.split()[4] == str(folder) for line in open("/proc/self/mountinfo"))


@contextlib.contextmanager
def mounted(uri, folder, *options, env=None):
    """A mount that answers; at the end it is asked to stop, and must have freed its folder."""
    folder.mkdir(exist_ok=True)
    process = subprocess.Popen([HEADRACE, "mount", str(uri), str(folder), *map(str, options)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    try:
        line = process.stdout.readline()
        assert "mounted" in line, process.communicate()
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        assert not covered(folder)


def files(folder: pathlib.Path) -> dict:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@needs_fuse
def test_a_local_folder_is_seen_as_it_is(labelled, tmp_path):
    with mounted(labelled, tmp_path / "mnt"):
        assert files(tmp_path / "mnt") == files(labelled)


@needs_fuse
def test_a_bucket_is_seen_as_the_folder_that_was_uploaded(labelled, labelled_s3, s3_environment, tmp_path):
    with mounted(labelled_s3, tmp_path / "mnt", env=s3_environment):
        assert files(tmp_path / "mnt") == files(labelled)
        done = subprocess.run(["diff", "-r", labelled, tmp_path / "mnt"], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


@needs_fuse
def test_what_was_read_once_comes_from_the_cache(labelled, labelled_s3, s3_environment, tmp_path):
    counts = []
    for _ in range(2):
        (tmp_path / "mnt").mkdir(exist_ok=True)
        process = subprocess.Popen(
            [HEADRACE, "mount", labelled_s3, tmp_path / "mnt", "--keep-dir", tmp_path / "keep", "--json"],
            stdout=subprocess.PIPE, text=True, env=s3_environment)
        assert json.loads(process.stdout.readline())["event"] == "mounted"
        assert files(tmp_path / "mnt") == files(labelled)
        process.send_signal(signal.SIGTERM)
        counts.append(json.loads(process.communicate(timeout=30)[0]))
    size = sum(len(body) for body in files(labelled).values())
    assert counts[0]["bytes_origin"] == size and counts[1]["bytes_origin"] == 0
    assert counts[1]["bytes_cache"] == size and counts[1]["errors"] == 0


@needs_fuse
@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM", "fusermount3"])
def test_it_ends_cleanly(how, labelled, tmp_path):
    folder = tmp_path / "mnt"
    with mounted(labelled, folder) as process:
        if how == "fusermount3":
            subprocess.run(["fusermount3", "-u", folder], check=True)
            assert process.wait(timeout=30) == 0
        else:
            process.send_signal(getattr(signal, how))
            assert process.wait(timeout=30) == 130
        assert not covered(folder) and os.listdir(folder) == []


@needs_fuse
def test_it_ends_while_it_is_read(labelled_s3, s3_environment, tmp_path):
    folder = tmp_path / "mnt"
    with mounted(labelled_s3, folder, env=s3_environment) as process:
        stop, outcomes = threading.Event(), []

        def read():
            while not stop.is_set():
                try:
                    for path in folder.rglob("*.jpg"):
                        path.read_bytes()
                except OSError as error:
                    outcomes.append(error.errno)
                    return

        readers = [threading.Thread(target=read) for _ in range(4)]
        for reader in readers:
            reader.start()
        time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)
        stop.set()
        for reader in readers:
            reader.join(timeout=30)
            assert not reader.is_alive()


@needs_fuse
def test_after_kill_9_the_next_mount_works(labelled, tmp_path):
    folder = tmp_path / "mnt"
    folder.mkdir()
    for _ in range(3):
        process = subprocess.Popen([HEADRACE, "mount", labelled, folder], stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline().startswith("mounted")
        assert files(folder) == files(labelled)
        process.kill()
        process.wait()
        headrace("mount", "--unmount", folder)  # if fusermount3 was not quicker
    deadline = time.monotonic() + 30
    while covered(folder) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not covered(folder) and os.listdir(folder) == []
    with mounted(labelled, folder):
        assert files(folder) == files(labelled)


@needs_fuse
@pytest.mark.parametrize("written_as", ["recordio", "tar"])
def test_the_inside_of_a_container_is_a_folder_of_its_pictures(written_as, labelled, labelled_s3, tmp_path,
                                                               s3_environment):
    """Promise F7: The inside of a container, mounted and read as a folder, has the container's set digest."""
    folder, container = tmp_path / "mnt", tmp_path / "packed"
    headrace_json("convert", labelled, "--format", written_as, "--out", container)
    with mounted(container, folder, "--inside"):
        seen = files(folder)
        wanted = files(labelled)
        if written_as == "recordio":  # has no names: class/number.suffix, in the order of the source
            assert list(seen.values()) and sorted(seen) == [
                f"{name.split('/')[0]}/{number:010}.jpg" for number, name in enumerate(sorted(wanted))]
            assert [seen[name] for name in sorted(seen)] == [wanted[name] for name in sorted(wanted)]
        else:
            assert seen == wanted
        for name, body in seen.items():
            assert (folder / name).stat().st_size == len(body)
        inodes = {name: (folder / name).stat().st_ino for name in seen}
        with pytest.raises(OSError) as refused:
            (folder / next(iter(seen))).write_bytes(b"x")
        assert refused.value.errno == errno.EROFS
        read = headrace_json("read", folder, "--mode", "direct", "--epochs", "1")
    whole = headrace_json("read", container, "--mode", "direct", "--epochs", "1")
    assert read["epochs"][0]["set_digest"] == whole["epochs"][0]["set_digest"]
    assert read["epochs"][0]["delivered"] == len(wanted)
    with mounted(container, folder, "--inside"):
        assert {name: (folder / name).stat().st_ino for name in seen} == inodes


@needs_fuse
def test_the_inside_of_a_container_in_s3_is_named_once_and_then_kept(packed_s3, s3_environment, tmp_path):
    counts, seen = [], []
    for _ in range(2):
        (tmp_path / "mnt").mkdir(exist_ok=True)
        process = subprocess.Popen([HEADRACE, "mount", packed_s3, tmp_path / "mnt", "--inside", "--keep-dir",
                                    tmp_path / "keep", "--json"], stdout=subprocess.PIPE, text=True,
                                   env=s3_environment)
        assert json.loads(process.stdout.readline())["event"] == "mounted"
        seen.append(files(tmp_path / "mnt"))
        process.send_signal(signal.SIGTERM)
        counts.append(json.loads(process.communicate(timeout=30)[0]))
    assert seen[0] == seen[1] and len(seen[0]) == 100
    assert counts[0]["bytes_origin"] > 0 and counts[0]["errors"] == 0
    # The second one reads pictures only, from the disk; the index and the class list are small.
    assert counts[1]["bytes_origin"] < counts[0]["bytes_origin"] / 4


@needs_fuse
def test_the_inside_of_a_million_records_is_not_held_in_memory(tmp_path):
    """Names, places and nodes would be 150 MB; what is read ahead to find the names is 30 MB at most."""
    picture = sets.picture(1, width=8, height=8, kind="PNG", colours=1)
    peaks = []
    for count in (1_000, 1_000_000):
        container = tmp_path / str(count)
        container.mkdir()
        sets.recordio(container / "train.rec", ((float(i % 10), picture) for i in range(count)))
        with mounted(container, tmp_path / "mnt", "--inside") as process:
            names = os.listdir(tmp_path / "mnt/0003")
            assert len(names) == count // 10 and len(set(names)) == len(names)
            for name in (names[0], names[-1]):
                assert (tmp_path / "mnt/0003" / name).read_bytes() == picture
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            peaks.append(int(re.search(r"^RssAnon:\s+(\d+) kB", status, re.M).group(1)) << 10)
        (container / "train.rec").unlink()
    assert peaks[1] <= peaks[0] + (50 << 20), peaks


@needs_fuse
def test_a_walk_through_many_keys_is_not_held_in_memory(tmp_path):
    """70 bytes for each key are allowed: its name, pin and node are more."""
    (tmp_path / "none").mkdir()
    anonymous = []
    for keys in (3_000, 300_000):
        with FaultServer(tmp_path / "none", "--classes", 100, "--keys", keys) as server:
            with mounted("s3://b", tmp_path / "mnt", env=server.env) as process:
                assert sum(len(names) for _, _, names in os.walk(tmp_path / "mnt")) == keys
                status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
                anonymous.append(int(re.search(r"^RssAnon:\s+(\d+) kB", status, re.M).group(1)) << 10)
    assert anonymous[1] <= anonymous[0] + (20 << 20), anonymous


@needs_fuse
def test_a_damaged_record_inside_is_refused_or_hidden(labelled, tmp_path):
    folder, container = tmp_path / "mnt", tmp_path / "packed"
    headrace_json("convert", labelled, "--format", "recordio", "--out", container)
    record = next(container.glob("*.rec"))
    with record.open("r+b") as file:
        file.write(b"XXXX")
    folder.mkdir()
    refused = headrace("mount", container, folder, "--inside")
    assert refused.returncode == 1 and "corrupt" in refused.stderr and record.name in refused.stderr
    assert not covered(folder)
    with mounted(container, folder, "--inside", "--on-bad", "skip"):
        assert len(files(folder)) == 99


@needs_fuse
def test_where_a_mount_was_killed_the_next_one_begins_at_once(labelled, tmp_path):
    folder = tmp_path / "mnt"
    folder.mkdir()
    process = None
    for _ in range(6):
        following = subprocess.Popen([HEADRACE, "mount", labelled, folder], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True)
        if process:
            process.communicate()
        assert following.stdout.readline().startswith("mounted"), following.communicate()
        folder.stat()  # the kernel knows the root now, and says so when nobody stands behind it any more
        assert files(folder) == files(labelled)
        process = following
        process.kill()  # and not waited for
    process.communicate()
    with mounted(labelled, folder):
        assert files(folder) == files(labelled)


@needs_fuse
def test_a_server_that_is_overloaded_is_an_input_output_error(labelled_s3, s3_environment, tmp_path):
    overloaded = threading.Event()

    def rule(request, answer):
        return proxy.slow_down(1_000_000)(request, answer) if overloaded.is_set() else answer

    with proxy.Proxy(s3_environment["HEADRACE_TEST_S3_ENDPOINT"], rule) as gateway:
        env = {**s3_environment, "AWS_ENDPOINT_URL": gateway.url, "AWS_MAX_ATTEMPTS": "3"}
        with mounted(labelled_s3, tmp_path / "mnt", env=env):
            picture = next((tmp_path / "mnt").rglob("*.jpg"))
            overloaded.set()
            with pytest.raises(OSError) as failed:
                picture.read_bytes()
            assert failed.value.errno == 5  # EIO
            overloaded.clear()
            assert picture.read_bytes()[:2] == b"\xff\xd8"


# Mountpoint: two LISTs, two HEADs and a GET a picture; its cache's metadata run out after a minute, and are asked
# for again.
@needs_fuse
@pytest.mark.parametrize("options", [(), ("--keep-dir",)], ids=["without cache", "with cache"])
def test_a_picture_costs_one_get_and_nothing_is_asked_twice(options, labelled, labelled_s3, s3_environment, tmp_path):
    options = [*options, tmp_path / "keep"] if options else []
    with proxy.Proxy(s3_environment["HEADRACE_TEST_S3_ENDPOINT"], lambda request, answer: answer) as gateway:
        with mounted(labelled_s3, tmp_path / "mnt", *options, env={**s3_environment, "AWS_ENDPOINT_URL": gateway.url}):
            for _ in range(3):
                assert files(tmp_path / "mnt") == files(labelled)
                for path in (tmp_path / "mnt").rglob("*"):
                    path.stat()
        lists = [r for r in gateway.requests if "list-type" in r.path]
        gets = [r.path for r in gateway.requests if r.method == "GET" and "list-type" not in r.path]
        heads = [r.path for r in gateway.requests if r.method == "HEAD"]
    folders = 1 + len([p for p in labelled.iterdir() if p.is_dir()])
    assert len(lists) <= folders + 1, "and one to see what the URI is"
    assert len(gets) == len(set(gets)) == 100
    assert len(heads) <= 1, "what the URI is, not what the pictures are"


@needs_fuse
def test_what_stands_in_the_way_is_said(labelled, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full/x").write_text("x")
    for arguments, words in [((labelled, tmp_path / "none"), "mkdir -p"),
                             ((labelled, tmp_path / "full"), "not empty"),
                             ((tmp_path / "missing", tmp_path / "full"), "missing"),
                             (("--unmount", tmp_path / "full"), "no store of headrace")]:
        done = headrace("mount", *arguments)
        assert done.returncode == 1 and words in done.stderr, done.stderr
    for arguments in [(labelled,), ("--unmount", labelled, tmp_path)]:
        assert headrace("mount", *arguments).returncode == 2


def digests(result):
    return [(epoch["order_digest"], epoch["set_digest"]) for epoch in result["epochs"]]


@needs_fuse
def test_fastfile_delivers_what_every_mode_does(labelled, packed, labelled_s3, packed_s3, s3_environment, tmp_path):
    env = {**s3_environment, "HEADRACE_TMPDIR": str(tmp_path)}
    common = ["--batch", 16, "--seed", 7, "--epochs", 2]
    expected = digests(headrace_json("read", labelled, *common))
    size = sum(len(body) for body in files(labelled).values())
    for uri in [labelled, labelled_s3, packed, packed_s3, packed_s3 + "/train.rec"]:
        got = headrace_json("read", uri, "--mode", "fastfile", *common, env=env)
        assert digests(got) == expected, uri
        assert got["epochs"][0]["requests"] > 0
        assert sum(epoch["bytes_origin"] for epoch in got["epochs"]) >= size
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith("headrace-")] == []


@needs_fuse
@pytest.mark.parametrize("how", ["SIGINT", "SIGKILL"])
def test_fastfiles_mount_ends_with_its_job(how, labelled, tmp_path):
    env = {**os.environ, "HEADRACE_TMPDIR": str(tmp_path)}
    job = subprocess.Popen(
        [HEADRACE, "read", labelled, "--mode", "fastfile", "--accelerator", "emulated:1"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    deadline = time.monotonic() + 60
    while not any(covered(p) for p in tmp_path.iterdir()):
        assert job.poll() is None and time.monotonic() < deadline, job.communicate()
        time.sleep(0.02)
    time.sleep(0.2)
    job.send_signal(getattr(signal, how))
    job.communicate(timeout=30)
    deadline = time.monotonic() + 30
    while list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert list(tmp_path.iterdir()) == []
    assert str(tmp_path) not in pathlib.Path("/proc/self/mountinfo").read_text()


@needs_fuse
def test_fastfile_says_what_the_mount_says(tmp_path, s3_environment):
    done = headrace("read", tmp_path / "missing", "--mode", "fastfile")
    assert done.returncode == 1 and "missing" in done.stderr
    done = headrace("read", f"s3://{s3_environment['HEADRACE_TEST_S3_BUCKET']}/x", "--mode", "fastfile",
                    env={**s3_environment, "AWS_SECRET_ACCESS_KEY": "wrong"})
    assert done.returncode == 1 and "secret" in done.stderr, done.stderr


def test_a_machine_without_fuse_gets_a_row_that_says_so(labelled, tmp_path):
    """Root sees every /dev/fuse; so this asks for it in a place that has none."""
    unshare = ["unshare", "--mount", "sh", "-c",
               "mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 && mknod -m 666 /dev/urandom c 1 9 "
               '&& exec "$0" "$@"', HEADRACE]
    tried = subprocess.run(["unshare", "--mount", "true"], capture_output=True)
    if tried.returncode != 0:
        pytest.skip("no mount namespaces here: " + tried.stderr.decode())
    done = subprocess.run([*unshare, "compare", labelled, "--modes", "direct,fastfile", "--epochs", "1",
                           "--repeats", "1", "--keep-dir", tmp_path, "--json"],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)
    rows = json.loads(done.stdout)["rows"]
    assert [row["status"] for row in rows] == ["ok", "not_run"], done.stderr
    assert "/dev/fuse" in rows[1]["why"]
    done = subprocess.run([*unshare, "read", labelled, "--mode", "fastfile"], capture_output=True, text=True)
    assert done.returncode == 1 and re.search("denied.*no /dev/fuse", done.stderr)
