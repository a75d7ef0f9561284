# SPDX-License-Identifier: Apache-2.0
"""Pictures whose class can be learnt in seconds: noise, brighter in one part of the picture."""

import pathlib
import random

from PIL import Image

SIDE = 16


def coloured_folder(root: pathlib.Path, classes: int = 3, per_class: int = 40, seed: int = 0) -> pathlib.Path:
    """Labelled grey PNGs of SIDE x SIDE; class c is brighter in the c-th stripe."""
    rng = random.Random(seed)
    for label in range(classes):
        folder = root / f"class-{label}"
        folder.mkdir(parents=True)
        for number in range(per_class):
            bright = range(label * SIDE // classes, (label + 1) * SIDE // classes)
            pixels = bytes(
                rng.randrange(160) + (90 if y in bright else 0) for y in range(SIDE) for _ in range(SIDE)
            )
            Image.frombytes("L", (SIDE, SIDE), pixels).save(folder / f"{number}.png")
    return root
