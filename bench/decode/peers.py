#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The loaders of others on the same pictures: RandomResizedCrop 224, flip, float32 NCHW, normalised.

    PYTHON bench/decode/peers.py --data DIR [--threads 1] [--seconds 10] [--who NAME]

PYTHON is one that has the peers (bench/decode/run --peers-python); those that it lacks are left
out and named. Each peer runs in a process of its own, batches of 64, pictures in page cache; prints
one JSON object: rows of who, version, threads, images_per_second, first_batch_seconds (from the
loader's making, imports left out) and peak_mib of private memory, its worker processes included.
Random crops are each peer's own where it has them, else Pillow's with torchvision's parameters.
"""
import argparse
import importlib
import importlib.metadata
import io
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

BATCH = 64
SIDE = 224
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def box(rng, width, height):
    """torchvision's RandomResizedCrop.get_params."""
    for _ in range(10):
        target = width * height * rng.uniform(0.08, 1)
        aspect = math.exp(rng.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(target * aspect)), round(math.sqrt(target / aspect))
        if 0 < w <= width and 0 < h <= height:
            left, top = rng.randint(0, width - w), rng.randint(0, height - h)
            return left, top, left + w, top + h
    return 0, 0, width, height


def sample(data):
    """Bytes to a float32 CHW array, by Pillow and NumPy: what a peer without a decoder uses."""
    import numpy as np
    from PIL import Image

    image = Image.open(io.BytesIO(data)).convert("RGB")
    image = image.crop(box(random, *image.size)).resize((SIDE, SIDE), Image.BILINEAR)
    if random.random() < 0.5:
        image = image.transpose(Image.FLIP_LEFT_RIGHT)
    pixels = np.asarray(image, np.float32) * np.float32(1 / 255)
    pixels = (pixels - np.asarray(MEAN, np.float32)) / np.asarray(STD, np.float32)
    return np.ascontiguousarray(pixels.transpose(2, 0, 1))


def read(path):
    return sample(pathlib.Path(path).read_bytes())


class Files:
    """A map-style set."""

    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return read(self.paths[index])


def torch_dataloader(paths, threads, scratch):
    from torch.utils.data import DataLoader

    loader = DataLoader(Files(paths), batch_size=BATCH, shuffle=True, num_workers=threads, persistent_workers=True)
    while True:
        yield from loader


def webdataset(paths, threads, scratch):
    import webdataset as wds
    from torch.utils.data import DataLoader

    for shard in range(threads):  # a shard for each worker, which it reads by itself
        with tarfile.open(f"{scratch}/{shard}.tar", "w") as tar:
            for number, path in enumerate(paths[shard::threads]):
                tar.add(path, arcname=f"{number:06}.jpg")
    urls = f"{scratch}/{{0..{threads - 1}}}.tar"
    data = wds.WebDataset(urls, shardshuffle=False).shuffle(100).to_tuple("jpg").map_tuple(sample).batched(BATCH)
    while True:
        yield from (batch[0] for batch in DataLoader(data, batch_size=None, num_workers=threads))


def grain(paths, threads, scratch):
    from grain.python import MapDataset, ReadOptions

    data = MapDataset.source(paths).shuffle(seed=1).repeat().map(read).batch(BATCH)
    yield from data.to_iter_dataset(ReadOptions(num_threads=threads, prefetch_buffer_size=2 * BATCH))


def spdl(paths, threads, scratch):
    import numpy as np
    from spdl.pipeline import PipelineBuilder

    def endless():
        while True:
            yield from paths

    pipeline = (PipelineBuilder().add_source(endless()).pipe(read, concurrency=threads).aggregate(BATCH)
                .pipe(np.stack).add_sink(2).build(num_threads=threads + 1))
    with pipeline.auto_stop():
        yield from pipeline


PEERS = {  # name: (module that must be there, the loader)
    "torch-dataloader-pillow": ("torch", torch_dataloader),
    "webdataset-pillow": ("webdataset", webdataset),
    "grain-pillow": ("grain", grain),
    "spdl-pillow": ("spdl.pipeline", spdl),
}


def private_mib(pid):
    """Of a process and its children."""
    total = 0
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
        total = int(re.search(r"^RssAnon:\s+(\d+) kB", text, re.M).group(1)) / 1024
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (OSError, AttributeError):
        return total
    return total + sum(private_mib(child) for child in children)


def measure(who, options):
    module, loader = PEERS[who]
    importlib.import_module(module)
    paths = sorted(str(path) for path in pathlib.Path(options.data).rglob("*") if path.is_file())
    for path in paths:
        pathlib.Path(path).read_bytes()
    peak = [0.0]

    def watch():
        while True:
            peak[0] = max(peak[0], private_mib(os.getpid()))
            time.sleep(0.05)

    threading.Thread(target=watch, daemon=True).start()
    with tempfile.TemporaryDirectory() as scratch:
        begin = time.monotonic()
        batches = iter(loader(paths, options.threads, scratch))
        next(batches)
        first = time.monotonic() - begin
        images, begin = 0, time.monotonic()
        while time.monotonic() - begin < options.seconds:
            images += len(next(batches))
        rate = images / (time.monotonic() - begin)
    version = importlib.metadata.version(module.split(".")[0])
    return {"who": who, "version": version, "threads": options.threads, "images_per_second": rate,
            "first_batch_seconds": first, "peak_mib": peak[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--who", choices=PEERS)
    options = parser.parse_args()
    if options.who:
        print(json.dumps(measure(options.who, options)), flush=True)
        os._exit(0)  # some loaders wait for their workers at the end
    rows, missing = [], {}
    for who in PEERS:
        command = [sys.executable, __file__, "--data", options.data, "--threads", str(options.threads),
                   "--seconds", str(options.seconds), "--who", who]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        if done.returncode == 0:
            rows.append(json.loads(done.stdout.splitlines()[-1]))
        else:
            missing[who] = (done.stderr.strip().splitlines() or ["no output"])[-1]
    print(json.dumps({"schema": 1, "rows": rows, "missing": missing}))


if __name__ == "__main__":
    main()
