# SPDX-License-Identifier: Apache-2.0
"""headrace train: it learns, it goes on as if it had never been killed, and modes do not matter."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time

import boto3
import pytest
from cli import HEADRACE, headrace, headrace_json
from ports import free_port
from striped import SIDE, striped_folder

BATCH, PER_CLASS, CLASSES = 8, 34, 3
STEPS = -(-PER_CLASS * CLASSES // BATCH)  # 13, the last one short
RUN = {
    "model": "resnet20", "image_shape": f"1,{SIDE},{SIDE}", "augment": "none", "lr": 0.01,
    "batch": BATCH, "seed": 3, "torch_threads": 1, "epochs": 3,
}
LOG = re.compile(
    r"^Epoch\[0\] Train-accuracy=[01]\.\d{6}\nEpoch\[0\] Time cost=\d+\.\d{3}\n"
    r"Epoch\[0\] Validation-accuracy=[01]\.\d{6}\n",
    re.M,
)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory) -> tuple[pathlib.Path, pathlib.Path]:
    root = tmp_path_factory.mktemp("striped")
    return (
        striped_folder(root / "train", CLASSES, PER_CLASS, seed=1),
        striped_folder(root / "val", CLASSES, 12, seed=2),
    )


def arguments(pictures, *flags, **options) -> list:
    named = {"data": pictures[0], "val": pictures[1], **RUN, **options}
    words = [word for name, value in named.items() for word in ("--" + name.replace("_", "-"), value)]
    return ["train", *words, "--losses", *flags]


def timeless(summary: dict) -> list[dict]:
    """The epochs without what no two runs share."""
    return [
        {k: v for k, v in epoch.items() if k not in ("seconds", "samples_per_second")}
        for epoch in summary["epochs"]
    ]


@pytest.fixture(scope="module")
def unbroken(pictures) -> dict:
    done = headrace(*arguments(pictures, "--json"))
    assert done.returncode == 0, done.stderr
    assert LOG.search(done.stderr), done.stderr  # stdout holds only the object
    return json.loads(done.stdout)


def test_it_learns_and_says_so_as_the_built_in_classifier_does(unbroken):
    assert unbroken["schema"] == 1
    assert unbroken["launch_seconds"] > 0
    assert unbroken["finished"] and not unbroken["resumed"]
    assert [epoch["epoch"] for epoch in unbroken["epochs"]] == [0, 1, 2]
    first, last = unbroken["epochs"][0], unbroken["epochs"][-1]
    assert last["train_loss"] < first["train_loss"]
    assert last["train_accuracy"] > 0.85 and last["validation_accuracy"] > 0.9
    assert all(len(epoch["losses"]) == STEPS for epoch in unbroken["epochs"])
    assert all(epoch["samples_per_second"] > 0 for epoch in unbroken["epochs"])


def test_it_sees_what_read_reads(pictures, unbroken):
    read = headrace_json("read", pictures[0], "--epochs", 3, "--batch", BATCH, "--seed", 3, "--no-decode")
    for name in ("order_digest", "set_digest"):
        assert [epoch[name] for epoch in read["epochs"]] == [epoch[name] for epoch in unbroken["epochs"]]


def test_log_lines_go_to_stdout_without_json(pictures):
    done = headrace(*arguments(pictures, epochs=1, batch=4))
    assert done.returncode == 0
    assert re.search(r"^Epoch\[0\] Batch \[20\]\tSpeed: \d+\.\d{3} samples/sec\taccuracy=[01]\.\d+$", done.stdout, re.M)
    assert LOG.search(done.stdout)
    assert done.stderr == ""


class Begun:
    """headrace train in the background, watched by its checkpoints."""

    def __init__(self, command: list, folder: pathlib.Path):
        self.last = folder / "last.ckpt"
        self.process = subprocess.Popen(
            [HEADRACE, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def wait_for_checkpoints(self, count: int) -> None:
        """Until so many were written, or the run is over."""
        seen = self.version()
        while count > 0 and self.process.poll() is None:
            time.sleep(0.0005)
            if (now := self.version()) != seen:
                seen, count = now, count - 1

    def version(self):
        try:
            stat = self.last.stat()
        except FileNotFoundError:
            return None
        return stat.st_ino, stat.st_mtime_ns

    def end(self, by: signal.Signals) -> tuple[int, str, str]:
        self.process.send_signal(by)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


def run_with_breaks(command, folder, by, breaks) -> dict:
    """Ends the run after so many checkpoints each time; the last attempt runs through."""
    for number, count in enumerate(breaks):
        threads = ["--threads", 1 + number % 3]
        begun = Begun([*command, "--checkpoint", folder, "--resume", *threads, "--json"], folder)
        begun.wait_for_checkpoints(count)
        code, out, err = begun.end(by)
        if code == 0:
            return json.loads(out)
        assert code in (-by, 130), err  # a SIGTERM may come before main begins
    return headrace_json(*command, "--checkpoint", folder, "--resume")


@pytest.mark.parametrize(("by", "every"), [(signal.SIGKILL, 1), (signal.SIGKILL, 4), (signal.SIGTERM, 0)])
def test_broken_off_and_resumed_it_ends_as_an_unbroken_run(pictures, unbroken, tmp_path, by, every):
    command = arguments(pictures, checkpoint_every=every)
    breaks = [0, 1, 2, 1, 3] if every != 1 else [0, 3, 1, 7, 2, 9, 5]
    done = run_with_breaks(command, tmp_path, by, breaks)
    assert timeless(done) == timeless(unbroken)
    assert sorted(p.name for p in tmp_path.iterdir()) in (
        ["best.ckpt", "last.ckpt"],
        ["best.ckpt", "last.ckpt", "last.ckpt.tmp"],  # killed while it wrote
    )


def test_more_epochs_can_be_asked_for_later(pictures, unbroken, tmp_path):
    headrace_json(*arguments(pictures, epochs=1, checkpoint=tmp_path))
    done = headrace_json(*arguments(pictures, "--resume", checkpoint=tmp_path))
    assert done["resumed"]
    assert timeless(done) == timeless(unbroken)
    again = headrace_json(*arguments(pictures, "--resume", checkpoint=tmp_path))
    assert again["epochs"] == done["epochs"] and again["launch_seconds"] is None


def test_what_cannot_be_resumed_is_named(pictures, tmp_path):
    command = arguments(pictures, epochs=1, checkpoint=tmp_path)
    headrace_json(*command)
    begun_again = headrace(*command)
    assert begun_again.returncode == 1
    assert "last.ckpt" in begun_again.stderr and "--resume" in begun_again.stderr

    other = headrace(*arguments(pictures, "--resume", checkpoint=tmp_path, lr=0.02, model="resnet18"))
    assert other.returncode == 1 and "lr" in other.stderr and "resnet18" in other.stderr

    path = tmp_path / "last.ckpt"
    path.write_bytes(path.read_bytes()[:-100])
    damaged = headrace(*command, "--resume")
    assert damaged.returncode == 1 and "corrupt" in damaged.stderr and "last.ckpt" in damaged.stderr
    assert headrace("train", "--data", pictures[0], "--resume").returncode == 2


def test_bad_sets_end_in_a_clear_error(pictures, tmp_path):
    val = striped_folder(tmp_path / "val", CLASSES + 1, 2)
    unknown = headrace(*arguments((pictures[0], val)))
    assert unknown.returncode == 1 and f"class-{CLASSES}" in unknown.stderr
    assert headrace(*arguments(pictures, num_classes=2)).returncode == 1
    wrong = headrace(*arguments(pictures, image_shape="2,8,8"))
    assert wrong.returncode == 2 and "image shape" in wrong.stderr
    assert headrace(*arguments(pictures, model="resnet21")).returncode == 2


def as_ranks(world: int, command: list) -> dict:
    """The command on so many ranks, as torchrun would start them; rank 0's object."""
    where = {"WORLD_SIZE": str(world), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    ranks = [
        subprocess.Popen(
            [HEADRACE, *map(str, command), "--json"], env={**os.environ, **where, "RANK": str(rank)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for rank in range(world)
    ]
    outputs = [rank.communicate(timeout=120) for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0] * world, outputs
    assert all(out == "" for out, _ in outputs[1:])
    return json.loads(outputs[0][0])


def test_two_ranks_see_what_one_sees(pictures, unbroken, tmp_path):
    command = arguments(pictures, batch=BATCH // 2)
    both = as_ranks(2, command)
    for name in ("order_digest", "set_digest"):
        assert [e[name] for e in both["epochs"]] == [e[name] for e in unbroken["epochs"]]
    assert both["epochs"][-1]["train_accuracy"] > 0.8
    assert as_ranks(2, command)["epochs"][0]["losses"] == both["epochs"][0]["losses"]


def test_one_rank_may_go_on_as_two(pictures, unbroken, tmp_path):
    where = {"checkpoint": tmp_path, "checkpoint_every": 4}
    begun = Begun(arguments(pictures, **where), tmp_path)
    begun.wait_for_checkpoints(2)
    assert begun.end(signal.SIGKILL)[0] == -signal.SIGKILL
    both = as_ranks(2, arguments(pictures, "--resume", batch=BATCH // 2, **where))
    for name in ("order_digest", "set_digest"):
        assert [e[name] for e in both["epochs"]] == [e[name] for e in unbroken["epochs"]]
    samples = sum(1 for _ in pictures[0].rglob("*.png"))
    assert all(e["train"]["samples"] == samples for e in both["epochs"])


@pytest.mark.skipif("HEADRACE_TEST_S3_BUCKET" not in os.environ, reason="no S3 server: scripts/s3-server")
def test_modes_give_the_same_losses(pictures, unbroken, tmp_path):
    bucket = os.environ["HEADRACE_TEST_S3_BUCKET"]
    s3 = boto3.client("s3")
    for root in pictures:
        for path in root.rglob("*.png"):
            s3.upload_file(path, bucket, f"train-story/{root.name}/{path.relative_to(root)}")
    uris = [f"s3://{bucket}/train-story/{root.name}" for root in pictures]
    for mode in ("stream", "keep"):
        cache = {"keep_dir": tmp_path} if mode == "keep" else {}
        done = headrace_json(*arguments(uris, mode=mode, **cache))
        assert timeless(done) == timeless(unbroken), mode
