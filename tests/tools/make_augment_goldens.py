#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what Pillow and OpenCV make of made-up pictures: tests/data/augment/*.tsv.

    python3 -m venv v && v/bin/pip install pillow==12.1.1 opencv-python-headless==4.7.0.72 'numpy<2'
    v/bin/python tests/tools/make_augment_goldens.py

jitter.tsv: width, height, seed, brightness, contrast, saturation, hue, SHA-256 of the result
            (in this order of steps, as torchvision does them on Pillow images)
warp.tsv:   width, height, seed, six numbers of the map, left, top, width, height of the part that
            is compared, SHA-256 of it (cv2.warpAffine, bilinear, 127 around)
hls.tsv:    red, green, blue, shift of hue, lightness, saturation, and the three that come out, as
            MXNet's default augmenter calls OpenCV
src/decode/augment/augment_test.cc makes the same sources and compares.
"""
import hashlib
import pathlib
import random

import cv2
import numpy as np
import PIL
from make_resize_goldens import source
from PIL import Image, ImageEnhance

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "data" / "augment"


def digest(pixels):
    return hashlib.sha256(np.ascontiguousarray(pixels).tobytes()).hexdigest()


def jittered(image, brightness, contrast, saturation, hue):
    image = ImageEnhance.Brightness(image).enhance(brightness)
    image = ImageEnhance.Contrast(image).enhance(contrast)
    image = ImageEnhance.Color(image).enhance(saturation)
    h, s, v = image.convert("HSV").split()
    turned = (np.asarray(h).astype(np.int64) + int(hue * 255)) % 256
    return Image.merge("HSV", (Image.fromarray(turned.astype(np.uint8), "L"), s, v)).convert("RGB")


def jitter_lines(rng):
    yield f"# Pillow {PIL.__version__}, by tests/tools/make_augment_goldens.py"
    for seed in range(40):
        width, height = rng.randint(1, 120), rng.randint(1, 90)
        factors = [round(rng.uniform(0, 2), 3) for _ in range(3)] + [round(rng.uniform(-0.5, 0.5), 3)]
        result = jittered(source(width, height, seed), *factors)
        yield "\t".join(map(str, (width, height, seed, *factors, digest(np.asarray(result)))))


def warp_lines(rng):
    yield f"# OpenCV {cv2.__version__}, by tests/tools/make_augment_goldens.py"
    for seed in range(60):
        width, height = rng.randint(8, 150), rng.randint(8, 120)
        angle, shear, ratio = rng.randint(-10, 10), rng.uniform(-0.1, 0.1), rng.uniform(0.75, 1.25)
        a, b = np.float32(np.cos(angle / 180 * np.pi)), np.float32(np.sin(angle / 180 * np.pi))
        tall = np.float32(2 / (1 + ratio))
        wide = np.float32(ratio) * tall
        m = np.array([[tall * a - shear * b * wide, tall * b + shear * a * wide, 0], [-b * wide, a * wide, 0]])
        m[:, 2] = (np.array([width, height]) - m[:, :2] @ [width, height]) / 2
        m = m.astype(np.float32)
        result = cv2.warpAffine(np.asarray(source(width, height, seed)), m, (width, height), flags=cv2.INTER_LINEAR,
                                borderMode=cv2.BORDER_CONSTANT, borderValue=(127, 127, 127))
        w, h = rng.randint(1, width), rng.randint(1, height)
        x, y = rng.randint(0, width - w), rng.randint(0, height - h)
        numbers = [repr(float(value)) for value in m.flatten()]
        yield "\t".join(map(str, (width, height, seed, *numbers, x, y, w, h, digest(result[y:y + h, x:x + w]))))


def hls_lines(rng):
    yield f"# OpenCV {cv2.__version__}, by tests/tools/make_augment_goldens.py"
    colours = [[r, g, b] for r in (0, 1, 127, 254, 255) for g in (0, 128, 255) for b in (0, 90, 255)]
    colours += [[rng.randint(0, 255) for _ in range(3)] for _ in range(200)]
    for shift in ((0, 0, 0), (36, 50, 50), (-36, -50, -50), (17, -31, 44)):
        hls = cv2.cvtColor(np.array([colours], np.uint8)[:, :, ::-1].copy(), cv2.COLOR_BGR2HLS).astype(int)
        hls = np.clip(hls + shift, 0, (180, 255, 255)).astype(np.uint8)
        for before, after in zip(colours, cv2.cvtColor(hls, cv2.COLOR_HLS2BGR)[0, :, ::-1].tolist(), strict=True):
            yield "\t".join(map(str, (*before, *shift, *after)))


def main():
    FOLDER.mkdir(exist_ok=True)
    rng = random.Random(11)
    for name, lines in (("jitter", jitter_lines), ("warp", warp_lines), ("hls", hls_lines)):
        (FOLDER / f"{name}.tsv").write_text("\n".join(lines(rng)) + "\n")


if __name__ == "__main__":
    main()
