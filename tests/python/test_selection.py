# SPDX-License-Identifier: Apache-2.0
"""headrace.Loader over several sets, in proportions and with weights; sets that manifests name."""

import collections
import json
import pathlib
import shutil

import headrace
import numpy as np
import pytest
import sets

SMALL = {"image_shape": (3, 8, 8), "threads": 2, "layout": "nhwc_u8"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> pathlib.Path:
    return sets.folder(tmp_path_factory.mktemp("set") / "whole", 4, 10)


@pytest.fixture(scope="module")
def names(whole) -> list[str]:
    return sorted((p.name for p in whole.iterdir()), key=str.encode)


@pytest.fixture(scope="module")
def parts(whole, names, tmp_path_factory) -> list[pathlib.Path]:
    root = tmp_path_factory.mktemp("parts")
    for part, own in (("a", names[:1]), ("b", names[1:2]), ("c", names[2:])):
        for name in own:
            shutil.copytree(whole / name, root / part / name)
    return [root / "a", root / "b", root / "c"]


def ids_of(loader) -> np.ndarray:
    return np.concatenate([batch.sample_ids for batch in loader])


def test_sets_are_joined_and_mixed(parts, names):
    with headrace.Loader(parts, 8, shares=[1, 0, 3], epoch_samples=80, **SMALL) as loader:
        assert loader.sets == [10, 10, 20] and loader.classes == names
        ids = ids_of(loader)
        assert len(ids) == 80
        assert collections.Counter(np.digitize(ids, [10, 20]).tolist()) == {0: 20, 2: 60}
        state = json.loads(json.dumps(loader.state_dict()))
        following = ids_of(loader)
        loader.load_state_dict(state)
        np.testing.assert_array_equal(ids_of(loader), following)
    with headrace.Loader(parts, 8, repeat=[2, 0.5, 1], **SMALL) as loader:
        assert len(loader) == 6
        times = collections.Counter(ids_of(loader).tolist() + ids_of(loader).tolist())
        assert times == {i: 4 if i < 10 else 1 if i < 20 else 2 for i in range(40)}


def test_a_list_of_one_is_that_set(whole):
    with headrace.Loader([whole], 8, **SMALL) as several, headrace.Loader(whole, 8, **SMALL) as one:
        assert several.sets == one.sets == [40]
        np.testing.assert_array_equal(ids_of(several), ids_of(one))


def test_classes_and_samples_have_weights(whole, names):
    weights = {names[0]: 4, names[3]: 0}
    with headrace.Loader(whole, 8, class_weights=weights, epoch_samples=60, **SMALL) as loader:
        times = collections.Counter(np.concatenate([b.labels for b in loader]).tolist())
        assert times == {0: 40, 1: 10, 2: 10}
    of_samples = [1.0] * 39 + [2.5]
    with headrace.Loader(whole, 8, sample_weights=of_samples, epoch_samples=83, **SMALL) as loader:
        times = collections.Counter(ids_of(loader).tolist())
        assert times == {i: 5 if i == 39 else 2 for i in range(40)}
        loader.load_state_dict(loader.state_dict())  # reads the weights again
        assert len(loader) == 11


def test_what_does_not_fit_is_said(whole):
    with pytest.raises(headrace.InvalidError, match="no data set"):
        headrace.Loader([], 8)
    with pytest.raises(headrace.InvalidError, match="no class"):
        headrace.Loader(whole, 8, class_weights={"cat": 2})
    with pytest.raises(headrace.InvalidError, match="2 weights for 40 samples"):
        headrace.Loader(whole, 8, sample_weights=[1, 2])


def test_an_augmented_manifest_of_a_copy_is_read(whole, names, tmp_path):
    """What the manifest calls the root is elsewhere; its attributes are named in order."""
    keys = sorted((p.relative_to(whole).as_posix() for p in whole.rglob("*.jpg")), key=str.encode)
    lines = [{"picture-ref": f"s3://bucket/train/{key}", "kind": names.index(key.split("/")[0]),
              "other": 7} for key in keys]
    manifest = tmp_path / "train.manifest"
    manifest.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with headrace.Loader(whole, 8, list=manifest, list_root="s3://bucket/train",
                         attribute_names=["picture-ref", "kind"], **SMALL) as loader:
        times = collections.Counter(np.concatenate([b.labels for b in loader]).tolist())
    assert times == {0: 10, 1: 10, 2: 10, 3: 10}
    with pytest.raises(headrace.HeadraceError):
        headrace.Loader(whole, 8, list=manifest, list_root="s3://elsewhere",
                        attribute_names=["picture-ref", "kind"], **SMALL)
