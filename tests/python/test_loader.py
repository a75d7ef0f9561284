# SPDX-License-Identifier: Apache-2.0
"""headrace.Loader: what it delivers, how it goes on, how it fails and ends."""

import copy
import gc
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import threading
import time

import headrace
import numpy as np
import pytest
import sets
from cli import HEADRACE

CLASSES, PER_CLASS = 4, 9
SAMPLES = CLASSES * PER_CLASS
SMALL = {"image_shape": (3, 24, 32), "threads": 2}


@pytest.fixture(scope="module")
def pictures(tmp_path_factory) -> pathlib.Path:
    return sets.folder(tmp_path_factory.mktemp("set") / "pictures", CLASSES, PER_CLASS)


def epoch_of(loader) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    return [(b.sample_ids, b.labels.copy(), b.images.copy()) for b in loader]


def assert_same(one, other):
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        for left, right in zip(a, b, strict=True):
            np.testing.assert_array_equal(left, right)


def test_an_epoch_delivers_every_sample_once(pictures):
    with headrace.Loader(pictures, 8, **SMALL) as loader:
        assert loader.mode == "direct"
        assert loader.samples == SAMPLES
        assert len(loader) == 5
        assert loader.classes == sorted(p.name for p in pictures.iterdir())
        ids, labels, sizes = [], [], []
        for images, numbers in loader:
            assert images.dtype == np.float32 and images.shape[1:] == (3, 24, 32)
            assert numbers.dtype == np.int64 and numbers.shape == (len(images),)
            sizes.append(len(images))
        assert sizes == [8, 8, 8, 8, 4]
        for batch in loader:
            assert batch.epoch == 1 and not batch.padding.any() and not batch.substitute.any()
            ids += batch.sample_ids.tolist()
            labels += batch.labels.tolist()
        assert sorted(ids) == list(range(SAMPLES))
        pairs = sets.samples(pictures)
        assert [pairs[i][0] for i in ids] == labels


@pytest.mark.skipif(not os.access("/dev/fuse", os.R_OK | os.W_OK), reason="this machine has no usable /dev/fuse")
def test_mode_fastfile_delivers_what_direct_does(pictures, monkeypatch):
    monkeypatch.setenv("HEADRACE_PROGRAM", str(HEADRACE))  # the mount is a process of its own
    with headrace.Loader(pictures, 8, mode="fastfile", **SMALL) as mounted:
        assert mounted.mode == "fastfile"
        with headrace.Loader(pictures, 8, mode="direct", **SMALL) as direct:
            assert_same(epoch_of(mounted), epoch_of(direct))


def test_reports_hold_ledger_and_digests(pictures):
    with headrace.Loader(pictures, 10, epochs=2, **SMALL) as loader:
        for _ in range(2):
            for _ in loader:
                pass
        assert list(loader) == []  # the epochs are over
        assert list(loader.reports) == [0, 1]
        expected = sets.set_digest(sets.samples(pictures))
        for report in loader.reports.values():
            assert report["asked"] == report["delivered"] == SAMPLES
            assert report["set_digest"] == expected
        assert sum(report["bytes_origin"] for report in loader.reports.values()) > 0
        assert loader.reports[0]["order_digest"] != loader.reports[1]["order_digest"]


def test_partial_reads_change_nothing_but_what_is_read(tmp_path):
    photographs = sets.detailed_folder(tmp_path / "set", 24)
    how = {**SMALL, "budget_bytes": 200_000, "epochs": 3, "mode": "keep", "keep_dir": tmp_path / "cache"}

    def run(**more):
        with headrace.Loader(photographs, 4, **how, **more) as loader:
            return [epoch_of(loader) for _ in range(3)], loader.reports[2]

    whole, before = run()
    parts, after = run(partial_reads=True)
    for one, other in zip(whole, parts, strict=True):
        assert_same(one, other)
    assert after["order_digest"] == before["order_digest"]
    assert (before["digest_basis"], after["digest_basis"]) == ("payload", "blocks")
    assert after["samples_in_parts"] > 12
    assert after["bytes_cache"] < 0.85 * before["bytes_cache"]
    with pytest.raises(headrace.InvalidError, match="belongs to mode keep"):
        headrace.Loader(photographs, 4, mode="direct", partial_reads=True)


def test_the_seed_alone_decides(pictures):
    def first_epoch(seed, **more):
        with headrace.Loader(pictures, 7, seed=seed, **{**SMALL, **more}) as loader:
            return epoch_of(loader)

    assert_same(first_epoch(3), first_epoch(3, threads=1))
    ids = [[i for ids, _, _ in first_epoch(seed) for i in ids] for seed in (3, 4)]
    assert ids[0] != ids[1]


@pytest.mark.parametrize("shuffle", ["blocks:4x2", "node:2"])
def test_every_scheme_delivers_every_sample_once(pictures, shuffle):
    ids = []
    for rank in (0, 1):
        with headrace.Loader(pictures, 4, rank=rank, world_size=2, shuffle=shuffle, **SMALL) as loader:
            ids += [i for batch in loader for i in batch.sample_ids.tolist()]
    assert sorted(ids) == list(range(SAMPLES))
    assert ids != sorted(ids)


def test_rare_classes_come_as_often_as_others(tmp_path):
    folder = sets.folder(tmp_path / "set", 3, 8)
    for picture in sorted((folder / sorted(p.name for p in folder.iterdir())[0]).iterdir())[2:]:
        picture.unlink()
    with headrace.Loader(folder, 9, shuffle="balanced", **SMALL) as loader:
        labels = [label for _, some in loader for label in some.tolist()]
    assert [labels.count(label) for label in (0, 1, 2)] == [6, 6, 6]


def test_an_order_that_cannot_be_is_refused(pictures):
    with pytest.raises(headrace.InvalidError, match="3 nodes"):
        headrace.Loader(pictures, 4, shuffle="node:3", **SMALL)
    with pytest.raises(headrace.InvalidError, match="known: global"):
        headrace.Loader(pictures, 4, shuffle="deck", **SMALL)


def test_ranks_share_the_global_batches(pictures):
    def of(batch, rank, world):
        with headrace.Loader(pictures, batch, seed=1, rank=rank, world_size=world, **SMALL) as loader:
            return [b.sample_ids.tolist() for b in loader]

    whole = of(8, 0, 1)
    first, second = of(4, 0, 2), of(4, 1, 2)
    assert [a + b for a, b in zip(first, second, strict=True)] == whole


@pytest.mark.parametrize(
    ("tail", "sizes", "padded"),
    [("keep", [16, 16, 4], 0), ("drop", [16, 16], 0), ("pad", [16] * 3, 12), ("wrap", [16] * 3, 0)],
)
def test_tails(pictures, tail, sizes, padded):
    with headrace.Loader(pictures, 16, tail=tail, **SMALL) as loader:
        batches = list(loader)
    assert [len(b) for b in batches] == sizes
    assert sum(int(b.padding.sum()) for b in batches) == padded


@pytest.mark.parametrize(
    ("layout", "shape", "dtype"),
    [("nchw_f32", (3, 24, 32), "float32"), ("nchw_u8", (3, 24, 32), "uint8"), ("nhwc_u8", (24, 32, 3), "uint8")],
)
def test_layouts_hold_the_same_pixels(pictures, layout, shape, dtype):
    with headrace.Loader(pictures, 4, layout=layout, shuffle="none", augment="center_crop", **SMALL) as loader:
        images = next(iter(loader)).images
    assert images.shape == (4, *shape) and images.dtype == dtype
    with headrace.Loader(
        pictures, 4, shuffle="none", augment="center_crop", mean=(0, 0, 0), std=(1, 1, 1), **SMALL
    ) as loader:
        reference = next(iter(loader)).images
    if layout == "nhwc_u8":
        images = images.transpose(0, 3, 1, 2)
    if layout != "nchw_f32":
        np.testing.assert_allclose(images / np.float32(255), reference, atol=1e-6)


def test_grey_pictures_have_one_channel(pictures):
    with headrace.Loader(pictures, 4, image_shape=(1, 28, 28)) as loader:
        assert next(iter(loader)).images.shape == (4, 1, 28, 28)


def test_float_labels_are_as_stored(pictures):
    with headrace.Loader(pictures, 4, labels="float32", **SMALL) as loader:
        labels = next(iter(loader)).labels
    assert labels.dtype == np.float32 and labels.shape == (4, 1)


def test_images_are_views_that_outlive_loader_and_batch(pictures):
    loader = headrace.Loader(pictures, 8, **SMALL)
    held = [batch.images for batch in loader]
    copies = [images.copy() for images in held]
    assert not any(images.flags.owndata for images in held)
    loader.close()
    del loader
    gc.collect()
    for images, copy in zip(held, copies, strict=True):
        np.testing.assert_array_equal(images, copy)


def test_a_loop_left_early_goes_on(pictures):
    with headrace.Loader(pictures, 8, seed=2, **SMALL) as loader:
        whole = epoch_of(loader)
    with headrace.Loader(pictures, 8, seed=2, **SMALL) as loader:
        for batch in loader:
            assert batch.step == 0
            break
        assert_same(epoch_of(loader), whole[1:])


@pytest.mark.parametrize("taken", [0, 1, 3, 5])
def test_state_dict_resumes_exactly(pictures, taken):
    with headrace.Loader(pictures, 8, seed=9, **SMALL) as loader:
        unbroken = [epoch_of(loader), epoch_of(loader)]
        digests = [loader.reports[e]["order_digest"] for e in (0, 1)]

    with headrace.Loader(pictures, 8, seed=9, **SMALL) as loader:
        batches = iter(loader)
        for _ in range(taken):
            next(batches)
        state = loader.state_dict()
    with headrace.Loader(pictures, 8, seed=9, **{**SMALL, "threads": 1}) as loader:
        loader.load_state_dict(state)
        assert_same(epoch_of(loader), unbroken[0][taken:])
        assert_same(epoch_of(loader), unbroken[1])
        assert [loader.reports[e]["order_digest"] for e in (0, 1)] == digests


def test_a_state_of_another_job_is_refused(pictures, tmp_path):
    other = sets.folder(tmp_path / "other", 2, 3)
    with headrace.Loader(pictures, 8, **SMALL) as loader:
        state = loader.state_dict()
    with headrace.Loader(other, 8, **SMALL) as loader, pytest.raises(headrace.ChangedError):
        loader.load_state_dict(state)
    with headrace.Loader(pictures, 8, seed=1, **SMALL) as loader, pytest.raises(headrace.InvalidError, match="seed"):
        loader.load_state_dict(state)
    with headrace.Loader(pictures, 8, **SMALL) as loader, pytest.raises(headrace.InvalidError):
        loader.load_state_dict({"version": 2})


def test_errors_name_place_cause_and_remedy(pictures, tmp_path):
    with pytest.raises(headrace.NotFoundError) as caught:
        headrace.Loader(tmp_path / "nothing", 8)
    assert caught.value.code == "not_found"
    assert str(tmp_path / "nothing") in str(caught.value)
    with pytest.raises(headrace.HeadraceError):
        headrace.Loader("gopher://host/set", 8)
    for wrong in ({"mode": "carrier-pigeon"}, {"augment": "no"}, {"output": "jax"}, {"image_shape": (2, 8, 8)}):
        with pytest.raises(ValueError):
            headrace.Loader(pictures, 8, **wrong)
    with pytest.raises(headrace.InvalidError):
        headrace.Loader(pictures, 0)
    with pytest.raises(headrace.InvalidError):
        headrace.Loader(pictures, 8, rank=2, world_size=2)


def test_a_damaged_picture_follows_the_policy(tmp_path):
    broken = sets.folder(tmp_path / "broken", 2, 5)
    victim = broken / "class-1" / "3.jpg"
    victim.write_bytes(victim.read_bytes()[:200])
    with headrace.Loader(broken, 4, **SMALL) as loader, pytest.raises(headrace.CorruptError) as caught:
        list(loader)
    assert "class-1/3.jpg" in str(caught.value)
    with headrace.Loader(broken, 4, on_bad="skip", quarantine=tmp_path / "bad", **SMALL) as loader:
        assert sum(len(b) for b in loader) == 9
        assert loader.reports[0]["skipped"] == 1
    assert "class-1/3.jpg" in (tmp_path / "bad").read_text()
    with headrace.Loader(broken, 4, on_bad="substitute", **SMALL) as loader:
        batches = list(loader)
        assert sum(len(b) for b in batches) == 10
        assert sum(int(b.substitute.sum()) for b in batches) == 1


def test_a_closed_loader_says_so(pictures):
    loader = headrace.Loader(pictures, 8, **SMALL)
    loader.close()
    loader.close()
    for call in (len, iter, lambda o: next(iter(o)), lambda o: o.state_dict(), lambda o: o.classes):
        if call is iter:
            continue  # a generator begins when it is asked
        with pytest.raises(headrace.InvalidError, match="closed"):
            call(loader)


# mosaicml/streaming#892: an index's file stayed open.
@pytest.mark.parametrize("form", ["folder", "recordio", "mds"])
def test_many_loaders_leave_nothing_behind(form, pictures, tmp_path):
    source = pictures if form == "folder" else tmp_path / form
    if form == "mds":
        subprocess.run([HEADRACE, "convert", pictures, "--format", "mds", "--out", source], check=True,
                       stdout=subprocess.DEVNULL)
    elif form == "recordio":
        source.mkdir()
        sets.recordio(source / "train.rec", sets.samples(pictures))

    def count():
        gc.collect()
        return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))

    def once():
        loader = headrace.Loader(source, 8, **SMALL)
        next(iter(loader))
        return loader  # closed by its end alone

    once()
    before = count()
    for _ in range(30):
        once()
    assert count() == before


def test_waiting_lets_other_threads_run(pictures):
    ticks = []
    done = threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        with headrace.Loader(pictures, 1, threads=1, epochs=3) as loader:
            for _ in range(3):
                for _ in loader:
                    pass
    finally:
        done.set()
        thread.join()
    assert ticks


WAITS = """
import os, socket, sys, headrace
silent = socket.create_server(("127.0.0.1", 0))   # takes connections, never answers
os.environ["AWS_ENDPOINT_URL"] = "http://127.0.0.1:%d" % silent.getsockname()[1]
print("waiting", flush=True)
try:
    headrace.Loader("s3://bucket/set", 8, mode="stream")
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(7)
"""


def test_ctrl_c_ends_a_wait_within_a_second():
    keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
    with subprocess.Popen(
        [sys.executable, "-c", WAITS],
        env={**os.environ, **keys}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # Jobs in the background of a shell ignore it, and Python then does not listen either.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdout.readline() == "waiting\n"
        time.sleep(1)
        assert process.poll() is None, process.stderr.read()
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - begun < 5  # a second, on a machine that is busy
        assert process.wait(timeout=30) == 7


ENDS = """
import sys, headrace
loader = headrace.Loader(sys.argv[1], 2)
next(iter(loader))
kept = loader   # still open, its threads still run
"""


def test_a_program_may_end_with_a_loader_open(pictures):
    done = subprocess.run([sys.executable, "-c", ENDS, pictures], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


ITERATORS = """
import os, re, sys, headrace
def resources():
    status = open("/proc/self/status").read()
    anonymous = int(re.search(r"RssAnon:\\s+(\\d+) kB", status).group(1)) * 1024
    return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")), anonymous
for i in range(100):
    # Every second iterator is left in the middle of its epoch.
    with headrace.Loader(sys.argv[1], 8, image_shape=(3, 24, 32), threads=2) as loader:
        for batch in loader:
            if i % 2:
                break
    del batch, loader
    if i >= 9:
        print(*resources(), flush=True)
"""


# Promise P3: Descriptors, threads and memory do not grow with the number of epochs or iterators.
def test_a_hundred_iterators_need_no_more_than_ten(pictures):
    done = subprocess.run([sys.executable, "-c", ITERATORS, pictures], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    seen = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    assert len(seen) == 91
    first, last = seen[:10], seen[-10:]
    for i, (kind, slack) in enumerate((("descriptors", 0), ("threads", 0), ("bytes", 8 << 20))):
        assert max(s[i] for s in last) <= max(s[i] for s in first) + slack, (kind, seen[::10])


# pytorch/pytorch#11201: "Too many open files" when batches are kept.
def test_batches_that_are_kept_hold_no_descriptors(pictures):
    with headrace.Loader(pictures, 1, epochs=4, **SMALL) as loader:
        kept = [next(iter(loader))]
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(4):
            kept += list(loader)
        assert len(kept) == 4 * SAMPLES
        assert len(os.listdir("/proc/self/fd")) <= before
    assert all(batch.images.shape[0] == 1 for batch in kept)


def test_a_fork_is_noticed(pictures):
    loader = headrace.Loader(pictures, 8, **SMALL)
    next(iter(loader))
    child = os.fork()
    if child == 0:
        code = 1
        try:
            next(iter(loader))
        except headrace.InvalidError as error:
            code = 0 if "fork" in str(error) else 2
        loader.close()
        del loader
        gc.collect()
        try:  # one of its own has all that there is
            with headrace.Loader(pictures, 8, **SMALL) as own:
                code = code if sum(len(b) for b in own) == SAMPLES else 3
        except BaseException:
            code = 4
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert sum(len(b) for b in loader) == SAMPLES - 8
    loader.close()


@pytest.mark.parametrize("options, says", [
    ({"batch_size": -1}, "batch_size cannot be -1: a whole number"),
    ({"batch_size": "8"}, "batch_size cannot be '8': a whole number"),
    ({"batch_size": 8.0}, "batch_size cannot be 8.0"),
    ({"batch_size": 2**70}, "batch_size cannot be"),
    ({"threads": -1}, "threads cannot be -1"),
    ({"seed": None}, "seed cannot be None"),
    ({"shuffle": True}, "shuffle cannot be True: a string"),
    ({"erase": "a lot"}, "erase cannot be 'a lot': a number"),
    ({"mean": 0.5}, "mean cannot be 0.5: a list of numbers"),
    ({"class_weights": {"c": "much"}}, "class_weights cannot be"),
    ({"image_shape": (3, -1, 8)}, "height cannot be -1"),
    ({"uri": None}, "uri cannot be None")])
def test_a_value_of_the_wrong_type_is_refused_by_its_option_s_name(pictures, options, says):
    arguments = {"uri": pictures, "batch_size": 8, **SMALL, **options}
    with pytest.raises(TypeError, match="^" + re.escape(says)):
        headrace.Loader(**arguments)


@pytest.mark.parametrize("options, says", [
    ({"mean": (0.5, 0.5)}, "mean has 2 numbers"), ({"jitter": (0.1,)}, "jitter has 1 numbers"),
    ({"image_shape": (24, 32)}, "image_shape is (24, 32)")])
def test_a_list_of_the_wrong_length_is_refused_by_its_option_s_name(pictures, options, says):
    with pytest.raises(headrace.InvalidError, match=re.escape(says)):
        headrace.Loader(**{"uri": pictures, "batch_size": 8, **SMALL, **options})


def test_a_loader_says_what_it_is_and_why_it_cannot_be_copied(pictures):
    with headrace.Loader(pictures, 8, **SMALL) as loader:
        assert repr(loader) == (f"<headrace.Loader of {pictures}: mode direct, {SAMPLES} samples, "
                                "batches of 8>")
        for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="cannot be pickled or copied"):
                attempt(loader)
    assert repr(loader) == f"<headrace.Loader of {pictures}: closed>"


@pytest.mark.parametrize(("before", "after"), [(4, 3), (1, 2), (3, 1)])
def test_states_of_all_ranks_resume_on_another_number_of_ranks(pictures, before, after):
    def rank_of(rank, world):
        return headrace.Loader(pictures, 12 // world, rank=rank, world_size=world, seed=3, **SMALL)

    def whole():
        with rank_of(0, 1) as loader:
            return [epoch_of(loader), epoch_of(loader)], [loader.reports[e]["order_digest"] for e in (0, 1)]

    epochs, digests = whole()
    states = []
    for rank in range(before):
        with rank_of(rank, before) as loader:
            next(iter(loader))
            states.append(loader.state_dict())
    seen, sums = [[], []], [0, 0]
    for rank in range(after):
        with rank_of(rank, after) as loader:
            loader.load_state_dict(states[::-1])
            for epoch in (0, 1):
                seen[epoch].append([ids.tolist() for ids, _, _ in epoch_of(loader)])
                sums[epoch] += int(loader.reports[epoch]["order_digest"], 16)
    for epoch, first in ((0, 1), (1, 0)):
        together = [sum(step, []) for step in zip(*seen[epoch], strict=True)]
        assert together == [ids.tolist() for ids, _, _ in epochs[epoch][first:]]
        assert f"{sums[epoch] & sets.MASK:032x}" == digests[epoch]


def test_a_state_that_is_refused_changes_nothing(pictures):
    def job(**more):
        return headrace.Loader(pictures, 8, **{**SMALL, "seed": 3, **more})

    with job() as loader:
        wanted = epoch_of(loader)
    with job(seed=4) as other, job() as loader:
        next(iter(loader))
        state = other.state_dict()
        for refused in (state, [state, state]):
            with pytest.raises(headrace.InvalidError):
                loader.load_state_dict(refused)
        assert_same(epoch_of(loader), wanted[1:])


@pytest.mark.parametrize("state", [{}, {"version": 2}, {"version": 1}, "text", None, 3, [], [None]])
def test_what_is_no_state_is_refused(pictures, state):
    with headrace.Loader(pictures, 8, **SMALL) as loader:
        with pytest.raises(headrace.InvalidError, match="no state"):
            loader.load_state_dict(state)
        assert len(epoch_of(loader)) == len(loader)  # and it is still good


def test_a_fifo_that_is_waited_for_is_said_to_the_log(tmp_path, caplog):
    source = sets.recordio(tmp_path / "set.rec", sets.samples(sets.folder(tmp_path / "set", 2, 3)))
    with headrace.Loader(source, 2, mode="pipe", pipe_dir=tmp_path / "none", pipe_wait=3) as loader:
        with pytest.raises(headrace.HeadraceError):
            next(iter(loader))
    (said,) = caplog.records
    assert (said.name, said.levelname) == ("headrace", "WARNING")
    assert f"waits up to 3 s for the FIFO {tmp_path}/none/train_0" in said.getMessage()
