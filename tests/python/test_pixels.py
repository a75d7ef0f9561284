# SPDX-License-Identifier: Apache-2.0
"""Samples are bit by bit what Pillow makes of the same box: crop, then resize.

HEADRACE_CORPUS=PICTURES,CROPS makes it as large as asked: scripts/test-long takes 500,20.
"""

import io
import os
import random

import headrace
import numpy as np
import pytest
from headrace import _headrace
from PIL import Image, ImageFile

ImageFile.MAXBLOCK = 1 << 23  # what an optimised picture of noise needs
PICTURES, CROPS = (int(n) for n in os.environ.get("HEADRACE_CORPUS", "24,3").split(","))
FILTERS = {
    "bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC, "lanczos": Image.LANCZOS,
    "box": Image.BOX, "hamming": Image.HAMMING, "nearest": Image.NEAREST,
}  # fmt: skip


def picture(rng: random.Random) -> bytes:
    """A JPEG of slopes and noise, of any size, sampling, quality and kind of tables."""
    width, height = rng.randint(5, 400), rng.randint(5, 400)
    values = np.random.default_rng(rng.getrandbits(32))
    y, x = np.mgrid[0:height, 0:width]
    slopes = np.stack([x * rng.uniform(-2, 2) + y * rng.uniform(-2, 2) for _ in range(3)], axis=2)
    noise = values.integers(0, rng.choice([2, 20, 120]), (height, width, 3))
    pixels = ((slopes % 256) * 0.5 + noise).clip(0, 255).astype(np.uint8)
    image = Image.fromarray(pixels)
    if rng.random() < 0.1:
        image = image.convert("L")
    out = io.BytesIO()
    image.save(
        out, "JPEG", quality=rng.randint(1, 100), subsampling=rng.choice([0, 0, 1, 2, 2]),
        optimize=rng.random() < 0.5, progressive=rng.random() < 0.1,
    )  # fmt: skip
    return out.getvalue()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus") / "pictures"
    (folder / "one").mkdir(parents=True)
    rng = random.Random(1)
    for i in range(PICTURES):
        (folder / "one" / f"{i:05}.jpg").write_bytes(picture(rng))
    return folder


def by_pillow(data: bytes, params, size: int, resample) -> np.ndarray:
    left, top, width, height = params.source
    image = Image.open(io.BytesIO(data)).convert("RGB")
    image = image.crop((left, top, left + width, top + height))
    pixels = np.asarray(image.resize((size, size), resample))
    return pixels[:, ::-1] if params.flip else pixels


@pytest.mark.parametrize("name", FILTERS)
def test_samples_are_pillows(corpus, name):
    files = sorted((corpus / "one").iterdir())
    crops = CROPS if name == "bilinear" else max(1, CROPS // 10)
    transform = _headrace.Transform()
    transform.width = transform.height = 96
    seen = 0
    with headrace.Loader(
        corpus, 16, seed=5, epochs=crops, image_shape=(3, 96, 96), layout="nhwc_u8", filter=name, threads=2
    ) as loader:
        for epoch in range(crops):
            for batch in loader:
                for sample, image in zip(batch.sample_ids, batch.images, strict=True):
                    data = files[sample].read_bytes()
                    width, height = Image.open(io.BytesIO(data)).size
                    params = _headrace.params_for(
                        transform, seed=5, epoch=epoch, sample_id=int(sample), width=width, height=height
                    )
                    want = by_pillow(data, params, 96, FILTERS[name])
                    np.testing.assert_array_equal(image, want, err_msg=f"{files[sample].name} epoch {epoch}")
                    seen += 1
    assert seen == PICTURES * crops


@pytest.mark.parametrize(("layout", "kind"), [("nchw_f16", np.float16), ("nchw_bf16", np.int16)])
def test_half_floats_are_the_floats_rounded(corpus, layout, kind):
    common = {"seed": 5, "epochs": 1, "image_shape": (3, 40, 40), "threads": 1}
    with headrace.Loader(corpus, 8, layout="nchw_f32", **common) as loader:
        floats = [batch.images.copy() for batch in loader]
    with headrace.Loader(corpus, 8, layout=layout, **common) as loader:
        halves = [batch.images.copy() for batch in loader]
    for wide, narrow in zip(floats, halves, strict=True):
        assert narrow.dtype == kind
        if kind is np.float16:
            np.testing.assert_array_equal(narrow, wide.astype(np.float16))
        else:
            bits = wide.view(np.uint32)
            rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
            np.testing.assert_array_equal(narrow.view(np.uint16), rounded.astype(np.uint16))
