#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what the Pillow at hand makes of made-up pictures: tests/data/resize/pillow<N>.tsv.

    python3 -m venv v && v/bin/pip install pillow==12.0.0 numpy
    v/bin/python tests/tools/make_resize_goldens.py > tests/data/resize/pillow12.tsv

Each line: width, height of the source, seed, width, height of the result, filter, SHA-256 of the
result's RGB bytes. src/decode/resize_test.cc makes the same sources and compares.
"""
import hashlib
import random

import numpy as np
import PIL
from PIL import Image

FILTERS = {
    "nearest": Image.NEAREST, "box": Image.BOX, "bilinear": Image.BILINEAR,
    "hamming": Image.HAMMING, "bicubic": Image.BICUBIC, "lanczos": Image.LANCZOS,
}


def source(width, height, seed):
    x = np.arange(width * height * 3, dtype=np.uint64) + np.uint64(seed * 1000003)
    x = (x * np.uint64(0x9E3779B1)) & np.uint64(0xFFFFFFFF)
    x ^= x >> np.uint64(15)
    x = (x * np.uint64(0x85EBCA77)) & np.uint64(0xFFFFFFFF)
    x ^= x >> np.uint64(13)
    pixels = (x & np.uint64(255)).astype(np.uint8)
    if seed % 2 == 1:  # black and white: filters with negative lobes leave the range
        pixels = np.where(pixels < 128, 0, 255).astype(np.uint8)
    return Image.fromarray(pixels.reshape(height, width, 3))


def cases():
    fixed = [
        (1, 1, 1, 1), (1, 1, 7, 5), (7, 5, 1, 1), (2, 3, 224, 224), (224, 224, 224, 224),
        (224, 300, 224, 224), (300, 224, 224, 224), (500, 375, 224, 224), (375, 500, 224, 224),
        (225, 227, 224, 224), (226, 228, 224, 224), (500, 375, 341, 256), (32, 32, 32, 32),
        (40, 40, 32, 32), (1200, 900, 64, 48), (3000, 40, 50, 20), (40, 3000, 20, 50),
        (4100, 3, 17, 2), (3, 4100, 2, 17), (840, 64, 224, 64), (830, 64, 224, 64),
        (1700, 64, 224, 64), (16, 16, 17, 15), (64, 64, 128, 128),
    ]
    for shape in fixed:
        for name in FILTERS:
            yield (*shape, name)
    rng = random.Random(7)
    for _ in range(200):
        yield (rng.randint(1, 400), rng.randint(1, 400), rng.randint(1, 260),
               rng.randint(1, 260), "bilinear")
    for _ in range(200):
        yield (rng.randint(1, 300), rng.randint(1, 300), rng.randint(1, 120),
               rng.randint(1, 120), rng.choice(sorted(FILTERS)))


def main():
    print(f"# Pillow {PIL.__version__}, by tests/tools/make_resize_goldens.py")
    for seed, (w, h, ow, oh, name) in enumerate(cases()):
        result = source(w, h, seed).resize((ow, oh), FILTERS[name])
        digest = hashlib.sha256(result.tobytes()).hexdigest()
        print(w, h, seed, ow, oh, name, digest, sep="\t")


if __name__ == "__main__":
    main()
