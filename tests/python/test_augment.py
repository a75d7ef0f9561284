# SPDX-License-Identifier: Apache-2.0
"""Augmented samples are what Pillow, and torchvision's rules, make of the same parameters.

OpenCV's part (crop_color, crop_color_transform) is pinned by src/decode/augment/augment_test.cc.
"""

import io
import pathlib
import struct

import headrace
import numpy as np
import pytest
from headrace import _headrace
from PIL import Image, ImageCms, ImageEnhance, ImageOps
from test_pixels import picture

VECTORS = pathlib.Path(__file__).parents[1] / "data" / "vectors"
SIZE = 48


def labelled(folder, pictures) -> pathlib.Path:
    (folder / "one").mkdir(parents=True)
    for name, data in pictures.items():
        (folder / "one" / name).write_bytes(data)
    return folder


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    import random

    rng = random.Random(3)
    return labelled(tmp_path_factory.mktemp("augment"), {f"{i:03}.jpg": picture(rng) for i in range(24)})


def transform(**choices):
    made = _headrace.Transform()
    made.width = made.height = SIZE
    for name, value in choices.items():
        setattr(made, name, value)
    return made


def deliver(folder, layout="nhwc_u8", size=SIZE, **options):
    """Sample id -> pixels of epoch 0."""
    with headrace.Loader(folder, 8, seed=5, epochs=1, image_shape=(3, size, size), layout=layout, **options) as loader:
        return {
            int(i): pixels.copy()
            for batch in loader
            for i, pixels in zip(batch.sample_ids, batch.images, strict=True)
        }


def params(recipe, sample, image):
    return _headrace.params_for(recipe, seed=5, epoch=0, sample_id=sample, width=image.width, height=image.height)


def cropped(image, drawn):
    left, top, width, height = drawn.source
    out = image.crop((left, top, left + width, top + height)).resize((SIZE, SIZE), Image.BILINEAR)
    return ImageOps.mirror(out) if drawn.flip else out


def turned(image, turn):
    h, s, v = image.convert("HSV").split()
    hue = (np.asarray(h).astype(int) + int(turn * 255)) % 256
    return Image.merge("HSV", (Image.fromarray(hue.astype(np.uint8)), s, v)).convert("RGB")


def jittered(image, jitter):
    steps = {
        "brightness": lambda i: ImageEnhance.Brightness(i).enhance(jitter.brightness),
        "contrast": lambda i: ImageEnhance.Contrast(i).enhance(jitter.contrast),
        "saturation": lambda i: ImageEnhance.Color(i).enhance(jitter.saturation),
        "hue": lambda i: turned(i, jitter.hue),
    }
    for step in jitter.order:
        image = steps[step.name](image)
    return image


def test_jitter_is_torchvisions_on_pillow_images(corpus):
    files = sorted((corpus / "one").iterdir())
    recipe = transform()
    recipe.jitter.brightness = recipe.jitter.contrast = recipe.jitter.saturation = 0.4
    recipe.jitter.hue = 0.1
    got = deliver(corpus, jitter=(0.4, 0.4, 0.4, 0.1))
    assert len(got) == len(files)
    for sample, pixels in got.items():
        image = Image.open(files[sample]).convert("RGB")
        drawn = params(recipe, sample, image)
        want = np.asarray(jittered(cropped(image, drawn), drawn.jitter))
        np.testing.assert_array_equal(pixels, want, err_msg=files[sample].name)


def test_erasing_leaves_zeros_after_the_normalisation(corpus):
    recipe = transform(erase=1)
    plain = deliver(corpus, layout="nchw_f32")
    erased = deliver(corpus, layout="nchw_f32", erase=1)
    files = sorted((corpus / "one").iterdir())
    for sample, pixels in erased.items():
        left, top, width, height = params(recipe, sample, Image.open(files[sample])).erase
        assert width > 0
        want = plain[sample].copy()
        want[:, top : top + height, left : left + width] = 0
        np.testing.assert_array_equal(pixels, want)


def test_crop_is_the_shorter_side_then_a_random_crop(corpus):
    recipe = transform(augment=_headrace.Augment.crop, resize=64)
    files = sorted((corpus / "one").iterdir())
    for sample, pixels in deliver(corpus, augment="crop", resize=64).items():
        image = Image.open(files[sample]).convert("RGB")
        drawn = params(recipe, sample, image)
        image = image.resize((drawn.scaled_width, drawn.scaled_height), Image.BILINEAR)
        assert min(image.size) == 64
        x, y = drawn.crop_left, drawn.crop_top
        image = image.crop((x, y, x + SIZE, y + SIZE))
        want = ImageOps.mirror(image) if drawn.flip else image
        np.testing.assert_array_equal(pixels, np.asarray(want))


@pytest.mark.parametrize("augment", ["crop", "crop_color", "crop_color_transform", "random_resized_crop"])
def test_threads_and_runs_change_no_pixel(corpus, augment):
    # Promise X2: A sample's pixels depend on its own bytes, the transform, the seed, the epoch and
    # the sample id, and on nothing else.
    choices = {"augment": augment, "resize": 64, "jitter": (0.4, 0.4, 0.4, 0.1), "erase": 0.5}
    one = deliver(corpus, threads=1, **choices)
    for other in (deliver(corpus, threads=3, **choices), deliver(corpus, threads=1, mode="direct", **choices)):
        assert one.keys() == other.keys()
        for sample in one:
            np.testing.assert_array_equal(one[sample], other[sample])


def test_exif_turns_as_pillow_does(tmp_path):
    names = [f"exif_{i}.jpg" for i in (*range(10), 65535)]
    names += [f"exif_{kind}.jpg" for kind in ("big_endian", "long_type", "two_segments", "progressive_6", "cut")]
    names += ["xmp_orientation_only.jpg"]
    pictures = {name: (VECTORS / "jpeg" / name).read_bytes() for name in names}
    pictures["png.png"] = (VECTORS / "png" / "exif_6.png").read_bytes()
    pictures["webp.webp"] = (VECTORS / "webp" / "vp8x_exif6_icc_xmp.webp").read_bytes()
    folder = labelled(tmp_path, pictures)
    files = sorted((folder / "one").iterdir())
    stored, got = deliver(folder), deliver(folder, orient="exif")
    moved = 0
    for sample, pixels in got.items():
        image = ImageOps.exif_transpose(Image.open(files[sample])).convert("RGB")
        want = np.asarray(cropped(image, params(transform(), sample, image)))
        np.testing.assert_array_equal(pixels, want, err_msg=files[sample].name)
        moved += not np.array_equal(pixels, stored[sample])
    assert moved >= 14


def rgb_profile(red, green, blue, gamma) -> bytes:
    """A display profile of ICC version 2: three primaries (XYZ) and one curve."""

    def fixed(value):
        return struct.pack(">i", round(value * 65536))

    xyz = lambda x, y, z: b"XYZ \0\0\0\0" + fixed(x) + fixed(y) + fixed(z)  # noqa: E731
    curve = b"curv\0\0\0\0" + struct.pack(">IH", 1, round(gamma * 256)) + b"\0\0"
    text = b"text\0\0\0\0none\0\0\0\0"
    tags = {b"rXYZ": xyz(*red), b"gXYZ": xyz(*green), b"bXYZ": xyz(*blue), b"wtpt": xyz(0.9642, 1, 0.8249)}
    tags |= dict.fromkeys((b"rTRC", b"gTRC", b"bTRC"), curve) | {b"cprt": text}
    at, table, body = 128 + 4 + 12 * len(tags), struct.pack(">I", len(tags)), b""
    for name, data in tags.items():
        table += name + struct.pack(">II", at + len(body), len(data))
        body += data
    head = struct.pack(">I", at + len(body)) + b"\0\0\0\0" + b"\x02\x10\0\0" + b"mntrRGB XYZ " + bytes(12) + b"acsp"
    head += bytes(28) + fixed(0.9642) + fixed(1) + fixed(0.8249)
    return head.ljust(128, b"\0") + table + body


def test_colour_profiles_are_followed_as_pillow_does(tmp_path):
    wide = rgb_profile((0.6097, 0.3111, 0.0195), (0.2053, 0.6257, 0.0609), (0.1492, 0.0632, 0.7446), 2.2)
    grey = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()  # not one of RGB
    y, x = np.mgrid[0:90, 0:120]
    image = Image.fromarray(np.stack([x * 2, y * 2, 255 - x], axis=2).astype(np.uint8))
    pictures = {}
    for name, kind, profile in (
        ("a.jpg", "JPEG", wide), ("b.png", "PNG", wide), ("c.webp", "WEBP", wide), ("d.jpg", "JPEG", grey),
        ("e.jpg", "JPEG", b"damaged" * 40), ("f.jpg", "JPEG", b""),
    ):  # fmt: skip
        out = io.BytesIO()
        image.save(out, kind, quality=95, icc_profile=profile)
        pictures[name] = out.getvalue()
    folder = labelled(tmp_path, pictures)
    files = sorted((folder / "one").iterdir())
    stored = deliver(folder, augment="none", size=90)
    got = deliver(folder, augment="none", size=90, colours="srgb")
    srgb = ImageCms.createProfile("sRGB")
    for sample, pixels in got.items():
        if files[sample].name[0] in "def":
            np.testing.assert_array_equal(pixels, stored[sample])
            continue
        source = Image.open(files[sample]).convert("RGB")
        profile = ImageCms.ImageCmsProfile(io.BytesIO(wide))
        want = ImageCms.profileToProfile(source, profile, srgb).resize((90, 90), Image.BILINEAR)
        difference = np.abs(pixels.astype(int) - np.asarray(want).astype(int))
        assert difference.max() <= 1, files[sample].name  # another version of Little CMS
        assert np.abs(pixels.astype(int) - stored[sample].astype(int)).max() > 5


def test_wrong_choices_are_named(corpus):
    for choice in ({"jitter": (0, 0, 0, 0.6)}, {"erase": 2}, {"orient": "up"}, {"colours": "p3"}):
        with pytest.raises(headrace.InvalidError):
            headrace.Loader(corpus, 8, **choice)
    with (
        pytest.raises(headrace.InvalidError, match="too small"),
        headrace.Loader(corpus, 8, augment="crop", resize=40, image_shape=(3, 48, 48)) as loader,
    ):
        list(loader)


def test_pinned_batches_hold_the_same_pixels(corpus):
    plain, pinned = deliver(corpus), deliver(corpus, pin=True)
    for sample in plain:
        np.testing.assert_array_equal(plain[sample], pinned[sample])
