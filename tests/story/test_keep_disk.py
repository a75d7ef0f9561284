# SPDX-License-Identifier: Apache-2.0
"""The node cache's disk as it can be: hung, full, with a quota, another user's, with a clock that jumps."""

import json
import os
import pathlib
import signal
import subprocess
import time

import pytest
import sets
from cli import HEADRACE, headrace, headrace_json
from volume import set_quota, volume

READ = ["--mode", "keep", "--batch", "16", "--threads", "2"]


@pytest.fixture(scope="module")
def pictures(tmp_path_factory) -> pathlib.Path:
    return sets.folder(tmp_path_factory.mktemp("disk") / "set", classes=3, per_class=80, width=240,
                       height=180)


@pytest.fixture(scope="module")
def wanted(pictures):
    return digests(headrace_json("read", pictures, "--mode", "direct", *READ[2:], "--epochs", "2"))


def digests(result):
    return [(e["order_digest"], e["set_digest"]) for e in result["epochs"]]


def kinds(result):
    return {notice["kind"]: notice for notice in result["notices"]}


class Hung:
    """A cache whose disk hangs as long as a file is there."""

    def __init__(self, hang_disk, folder):
        self.flag, self.cache = folder / "hangs", folder / "cache"
        self.env = hang_disk(HANG_BELOW=self.cache, HANG_WHILE=self.flag)

    def read(self, uri, *options):
        return headrace_json("read", uri, *READ, "--keep-dir", self.cache, *options, env=self.env)


@pytest.fixture
def hung(hang_disk, tmp_path) -> Hung:
    return Hung(hang_disk, tmp_path)


# Promise M7: A cache whose disk hangs, fails or fills up stops no job and changes no sample.
@pytest.mark.parametrize("warm", [False, True], ids=["empty cache", "full cache"])
def test_a_disk_that_hangs_costs_seconds_not_the_job(warm, hung, pictures, wanted):
    if warm:
        assert digests(hung.read(pictures, "--epochs", "2")) == wanted
    hung.flag.touch()
    result = hung.read(pictures, "--epochs", "2")
    assert digests(result) == wanted
    assert kinds(result)["keep-trouble"]["count"] == 1
    hung.flag.unlink()
    after = hung.read(pictures, "--epochs", "3")
    assert digests(after)[:2] == wanted
    assert "keep-trouble" not in kinds(after)
    assert after["epochs"][2]["bytes_origin"] == 0  # a slow disk may not have taken all in the first


def test_ctrl_c_ends_a_job_whose_disk_hangs(hung, pictures):
    hung.read(pictures)
    hung.flag.touch()
    job = subprocess.Popen([HEADRACE, "read", pictures, *READ, "--keep-dir", hung.cache, "--epochs",
                            "1000", "--accelerator", "emulated:50"], env=hung.env,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1)  # in the middle of its waiting for the disk, which lasts 5 s
    began = time.monotonic()
    job.send_signal(signal.SIGINT)
    assert job.wait(timeout=60) == 130
    assert time.monotonic() - began < 5  # less than the disk is given: nothing waited for it


def test_the_disk_is_tried_again(hung, pictures, wanted):
    hung.flag.touch()
    job = subprocess.Popen([HEADRACE, "read", pictures, *READ, "--keep-dir", hung.cache, "--epochs", "24",
                            "--accelerator", "emulated:400", "--budget", "1M", "--json"], env=hung.env,
                           stdout=subprocess.PIPE, text=True)
    time.sleep(7)
    hung.flag.unlink()
    result = json.loads(job.communicate(timeout=120)[0])
    assert digests(result)[:2] == wanted
    assert result["epochs"][-1]["bytes_origin"] == 0, "kept by then"


def test_the_default_limit_leaves_a_tenth_of_the_volume(volumes, pictures, tmp_path):
    with volume(tmp_path, 24) as disk:
        free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
        limit = headrace_json("keep", "warm", pictures, "--keep-dir", disk / "cache")["limit_bytes"]
        assert 0.85 * free < limit <= 0.9 * free


def test_a_quota_is_the_limit_where_it_is_smaller(volumes, pictures, tmp_path):
    try:
        with volume(tmp_path, 64, "-O", "quota", "-E", "quotatype=usrquota") as disk:
            set_quota(disk, os.geteuid(), 10)
            limit = headrace_json("keep", "warm", pictures, "--keep-dir", disk / "cache")["limit_bytes"]
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no quotas here: {error}")
    assert limit < 10 << 20


def test_a_volume_that_is_full_costs_nothing_but_the_cache(volumes, pictures, wanted, tmp_path):
    with volume(tmp_path, 8) as disk:
        result = headrace_json("read", pictures, *READ, "--keep-dir", disk / "cache", "--keep-size", "1G",
                               "--epochs", "2")
        assert digests(result) == wanted
        for file in (disk / "cache/v1").iterdir():  # and nothing that lies there is wrong
            assert file.stat().st_size <= 8 << 20
        assert headrace_json("keep", "verify", "--keep-dir", disk / "cache")["damaged"] == []
        filler = disk / "filler"
        with filler.open("wb", buffering=0) as file, pytest.raises(OSError):
            while True:
                file.write(bytes(1 << 16))
        assert digests(headrace_json("read", pictures, *READ, "--keep-dir", disk / "cache", "--epochs",
                                     "2")) == wanted


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_another_users_cache_is_refused_and_cannot_be_entered(pictures, tmp_path):
    nobody = 65534
    mine = tmp_path / "mine"
    headrace_json("read", pictures, *READ, "--keep-dir", mine)
    assert mine.stat().st_mode & 0o77 == 0

    def become_nobody():
        os.setgid(nobody)
        os.setuid(nobody)

    entered = subprocess.run(["ls", mine / "v1"], capture_output=True, preexec_fn=become_nobody)
    assert entered.returncode != 0
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o700)
    os.chown(theirs, nobody, nobody)
    refused = headrace("read", pictures, *READ, "--keep-dir", theirs)
    assert refused.returncode == 1
    assert "belongs to user 65534" in refused.stderr


@pytest.mark.parametrize("year", [1971, 2170])
def test_a_clock_that_jumped_changes_nothing(year, pictures, wanted, tmp_path):
    cache = tmp_path / "cache"
    headrace_json("read", pictures, *READ, "--keep-dir", cache)
    for number, file in enumerate(sorted((cache / "v1").iterdir())):
        then = (year - 1970) * 31_556_952 + number
        os.utime(file, (then, then))
    again = headrace_json("read", pictures, *READ, "--keep-dir", cache, "--epochs", "2")
    assert digests(again) == wanted
    assert all(e["bytes_cache"] > 0 and e["bytes_origin"] == 0 for e in again["epochs"][1:])
    # Room is made of what is there all the same, whatever its date.
    other = sets.folder(tmp_path / "other", classes=2, per_class=40, width=240, height=180)
    small = headrace_json("read", other, *READ, "--keep-dir", cache, "--keep-size", "1500K", "--epochs", "2")
    assert small["epochs"][1]["bytes_cache"] > 0


def test_other_versions_are_left_alone(pictures, wanted, tmp_path):
    cache = tmp_path / "cache"
    headrace_json("read", pictures, *READ, "--keep-dir", cache)
    (cache / "v2").mkdir()
    (cache / "v2/s-1.log").write_bytes(b"of a later version")
    for log in (cache / "v1").glob("*.log"):
        written = bytearray(log.read_bytes())
        written[16] = 2  # the version; its check then fails as well
        log.write_bytes(written)
    again = headrace_json("read", pictures, *READ, "--keep-dir", cache, "--epochs", "2")
    assert digests(again) == wanted
    assert again["epochs"][0]["bytes_cache"] == 0
    assert (cache / "v2/s-1.log").read_bytes() == b"of a later version"
