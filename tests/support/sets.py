# SPDX-License-Identifier: Apache-2.0
"""Small data sets for stories, made without Headrace, and a second computation of its digests."""

import io
import pathlib
import random
import struct

import xxhash
from PIL import Image

MASK = (1 << 128) - 1
MAGIC = 0xCED7230A
MARK = struct.pack("<I", MAGIC)


def picture(seed: int, width: int = 64, height: int = 48, kind: str = "JPEG", colours: int = 48) -> bytes:
    """An encoded picture that depends on the seed only: a coarse random grid, smoothly enlarged."""
    rng = random.Random(seed)
    columns = 8 if colours >= 8 else 1
    grid = Image.frombytes("RGB", (columns, colours // columns), rng.randbytes(colours * 3))
    out = io.BytesIO()
    grid.resize((width, height), Image.Resampling.BICUBIC).save(out, kind)
    return out.getvalue()


def folder(root: pathlib.Path, classes: int = 4, per_class: int = 25, **size) -> pathlib.Path:
    """A class folder each, pictures in it; some names sort differently by bytes than by locale."""
    names = [f"class-{i}" if i % 2 else f"Class_{i}" for i in range(classes)]
    for number, name in enumerate(names):
        (root / name).mkdir(parents=True)
        for i in range(per_class):
            (root / name / f"{i}.jpg").write_bytes(picture(number * per_class + i, **size))
    return root


def detailed_folder(root: pathlib.Path, count: int, classes: int = 2) -> pathlib.Path:
    """Pictures of 360 x 480 with as many bytes a pixel as photographs, about 100 kB each."""
    for number in range(count):
        grid = Image.frombytes("RGB", (120, 160), random.Random(number).randbytes(120 * 160 * 3))
        path = root / f"class-{number % classes}" / f"{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        grid.resize((360, 480), Image.Resampling.BICUBIC).save(path, "JPEG", quality=90)
    return root


def samples(root: pathlib.Path) -> list[tuple[float, bytes]]:
    """(label, payload) of a labelled folder in canonical order: keys by UTF-8 bytes."""
    keys = sorted(p.relative_to(root).as_posix().encode() for p in root.rglob("*")
                  if p.is_file() and ".headrace" not in p.parts)
    classes = sorted({key.split(b"/")[0] for key in keys})
    return [
        (float(classes.index(key.split(b"/")[0])), (root / key.decode()).read_bytes()) for key in keys
    ]


def set_digest(pairs: list[tuple[float, bytes]]) -> str:
    """docs/SEMANTICS.md, Digests: the sum over samples of XXH3-128(labels, XXH3-128(payload))."""
    total = 0
    for label, payload in pairs:
        hashed = xxhash.xxh3_128_intdigest(payload)
        term = struct.pack("<f", label) + hashed.to_bytes(16, "little")
        total = (total + xxhash.xxh3_128_intdigest(term)) & MASK
    return f"{total:032x}"


def recordio(path: pathlib.Path, pairs: list[tuple[float, bytes]], index: bool = True) -> pathlib.Path:
    """An MXNet .rec with its .idx: frame, 24 bytes of image header, payload.

    Written by definition, not by Headrace; payloads that hold the magic on a multiple of 4 are
    split there, as MXNet does."""
    lines = []
    with path.open("wb") as rec:
        for number, (label, payload) in enumerate(pairs):
            lines.append(f"{number}\t{rec.tell()}\n")
            body = struct.pack("<IfQQ", 0, label, number, 0) + payload
            parts, start = [], 0
            for at in range(0, len(body) - 3, 4) if MARK in body else ():
                if body[at : at + 4] == MARK:
                    parts.append(body[start:at])
                    start = at + 4
            parts.append(body[start:])
            for i, part in enumerate(parts):
                flag = 0 if len(parts) == 1 else 1 if i == 0 else 3 if i == len(parts) - 1 else 2
                rec.write(struct.pack("<II", MAGIC, flag << 29 | len(part)) + part + b"\0" * (-len(part) % 4))
    if index:
        path.with_suffix(".idx").write_text("".join(lines))
    return path
