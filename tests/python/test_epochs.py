# SPDX-License-Identifier: Apache-2.0
"""Epochs as users of other loaders saw them go wrong: lengths, restarts, places, draws."""

import time

import headrace
import numpy as np
import pytest
import sets

SMALL = {"image_shape": (3, 24, 32), "threads": 2, "seed": 5}


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    return sets.folder(tmp_path_factory.mktemp("set") / "pictures", 4, 9)


def ids(loader) -> list[list[int]]:
    return [batch.sample_ids.tolist() for batch in loader]


# apache/mxnet#8552, #1014: after a reset the end came at once; 155 or 156 batches by chance.
# NVIDIA/DALI#2060: a reader that was left after a twentieth of its epoch was of no use.
# NVIDIA/DALI#1762: the length drifted where readers kept their shard.
@pytest.mark.parametrize("shuffle", ["global", "node:1", "blocks:4x2", "balanced", "none"])
def test_an_epoch_is_as_long_as_len_says_whatever_was_left_early(pictures, shuffle):
    with headrace.Loader(pictures, 8, shuffle=shuffle, **SMALL) as loader:
        for epoch in range(12):
            seen = 0
            while seen < len(loader):
                for batch in loader:
                    assert (batch.epoch, batch.step) == (epoch, seen)
                    seen += 1
                    if seen % 2 == epoch % 2:
                        break
            assert seen == len(loader) == 5


def test_a_loop_left_at_the_last_batch_is_done_with_its_epoch(pictures):
    with headrace.Loader(pictures, 8, **SMALL) as loader:
        for epoch in range(3):
            steps = []
            for number, batch in enumerate(loader):
                assert batch.epoch == epoch
                steps.append(batch.step)
                if number + 1 == len(loader):
                    break
            assert steps == [0, 1, 2, 3, 4]
        assert sorted(loader.reports) == [0, 1]
        state = loader.state_dict()
    with headrace.Loader(pictures, 8, **SMALL) as loader:  # of a loop that had not ended: it ends
        loader.load_state_dict(state)
        assert [ids(loader), len(ids(loader))] == [[], 5]
        assert sorted(loader.reports) == [2, 3]


def test_a_refused_state_leaves_a_loop_alone_that_was_left_at_its_last_batch(pictures):
    with headrace.Loader(pictures, 8, seed=6, image_shape=(3, 24, 32)) as other:
        foreign = other.state_dict()
    with headrace.Loader(pictures, 8, **SMALL) as loader:
        for batch in loader:
            if batch.step + 1 == len(loader):
                break
        with pytest.raises(headrace.HeadraceError):
            loader.load_state_dict(foreign)
        assert [batch.epoch for batch in loader] == [1] * 5
        assert sorted(loader.reports) == [0, 1]


# apache/mxnet#7708: a reset before the first use, or long after the prefetch, changed what came.
def test_an_iterator_made_anew_before_or_after_the_prefetch_changes_nothing(pictures):
    with headrace.Loader(pictures, 8, **SMALL) as loader:
        wanted = ids(loader)
    with headrace.Loader(pictures, 8, **SMALL) as loader:
        for _ in range(3):
            iter(loader)
        time.sleep(0.2)  # what is prefetched is there by now; it need not be
        iter(loader)
        first, second = iter(loader), iter(loader)
        assert [next(i).sample_ids.tolist() for i in (first, second, first)] == wanted[:3]
        assert ids(loader) == wanted[3:]


# mosaicml/streaming#437, #880, #421: a state that was loaded after the first batch was ignored.
# mosaicml/streaming#869: a state of the end of an epoch, or of a later one, did not resume.
@pytest.mark.parametrize("batches", [0, 2, 5, 7, 10, 14])
def test_a_state_may_be_loaded_at_any_moment(pictures, batches):
    with headrace.Loader(pictures, 8, **SMALL) as loader:
        wanted = [ids(loader) for _ in range(4)]
    with headrace.Loader(pictures, 8, **SMALL) as loader:
        taken = 0
        while taken < batches:
            for _ in loader:
                taken += 1
                if taken == batches and batches % 5 != 0:
                    break
        state = loader.state_dict()
        epoch, step = divmod(batches, 5)
        for _ in range(2):  # also where the loader has gone on, or is done with the epoch
            next(iter(loader))
            loader.load_state_dict(state)
            assert ids(loader) == wanted[epoch][step:]
            assert ids(loader) == wanted[epoch + 1]


# webdataset#194, #225: each validation sample exactly once over any number of ranks.
# NVIDIA/DALI#2881: 10 samples, 4 shards, batches of 3: shards overlapped. #181: the last was never seen.
@pytest.mark.parametrize(("samples", "ranks", "batch"), [(10, 4, 3), (19, 4, 3), (3, 8, 2), (36, 5, 16)])
def test_ranks_see_each_sample_once_and_make_as_many_steps(tmp_path, samples, ranks, batch):
    """Also where ranks have no share, with no end of epochs in sight."""
    folder = sets.folder(tmp_path / "set", 1, samples)
    seen, steps = [], set()
    for rank in range(ranks):
        with headrace.Loader(folder, batch, rank=rank, world_size=ranks, **SMALL) as loader:
            batches = ids(loader)
            steps.add(len(batches))
            assert len(batches) == len(loader)
            seen += [i for some in batches for i in some]
    assert sorted(seen) == list(range(samples))
    assert len(steps) == 1


# pytorch/pytorch#5059, #41329: all workers, and all epochs, drew the same crops.
def test_each_sample_and_epoch_has_draws_of_its_own(tmp_path):
    folder = tmp_path / "set/a"
    folder.mkdir(parents=True)
    one = sets.picture(3, width=160, height=120)
    for number in range(8):
        (folder / f"{number}.jpg").write_bytes(one)

    def epochs(threads):
        options = {**SMALL, "threads": threads, "augment": "random_resized_crop"}
        with headrace.Loader(tmp_path / "set", 8, shuffle="none", **options) as loader:
            return [batch.images.copy() for _ in range(3) for batch in loader]

    drawn = epochs(4)
    crops = {picture.tobytes() for images in drawn for picture in images}
    assert len(crops) == 24, "of one picture, in 8 places and 3 epochs"
    for a, b in zip(drawn, epochs(1), strict=True):
        np.testing.assert_array_equal(a, b)
