# SPDX-License-Identifier: Apache-2.0
"""Pictures whose class can be learnt in seconds: noise over stripes of the class's direction."""

import pathlib
import random

from PIL import Image

SIDE = 16
PATTERNS = [lambda x, y: y // 2, lambda x, y: x // 2, lambda x, y: (x + y) // 2, lambda x, y: 0]


def striped_folder(root: pathlib.Path, classes: int = 3, per_class: int = 40, seed: int = 0) -> pathlib.Path:
    """Labelled grey PNGs of SIDE x SIDE, of up to 4 classes."""
    rng = random.Random(seed)
    for label, pattern in enumerate(PATTERNS[:classes]):
        folder = root / f"class-{label}"
        folder.mkdir(parents=True)
        for number in range(per_class):
            pixels = bytes(
                rng.randrange(156) + 100 * (pattern(x, y) % 2) for y in range(SIDE) for x in range(SIDE)
            )
            Image.frombytes("L", (SIDE, SIDE), pixels).save(folder / f"{number}.png")
    return root
