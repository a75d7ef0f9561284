#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The loaders of others on the same pictures: RandomResizedCrop 224, flip, float32 NCHW, normalised.

    PYTHON bench/decode/peers.py --data DIR [--threads 1] [--seconds 10] [--who NAME]

PYTHON is one that has the peers (bench/decode/run --peers-python); those that it lacks are left
out and named. Each peer runs in a process of its own, batches of 64, pictures in page cache; prints
one JSON object: rows of who, version, threads, images_per_second, first_batch_seconds (from the
loader's making; imports and conversion to its own format left out) and peak_mib of private memory, its worker processes included.
Random crops are each peer's own where it has them, else Pillow's with torchvision's parameters.
"""
import argparse
import importlib
import importlib.metadata
import importlib.util
import io
import json
import math
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

BATCH = 64
SIDE = 224
READY = None  # what each loader yields first, when its libraries and its own format are there
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

    yield READY
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
    yield READY
    urls = f"{scratch}/{{0..{threads - 1}}}.tar"
    data = wds.WebDataset(urls, shardshuffle=False).shuffle(100).to_tuple("jpg").map_tuple(sample).batched(BATCH)
    while True:
        yield from (batch[0] for batch in DataLoader(data, batch_size=None, num_workers=threads))


def grain(paths, threads, scratch):
    from grain.python import MapDataset, ReadOptions

    yield READY
    data = MapDataset.source(paths).shuffle(seed=1).repeat().map(read).batch(BATCH)
    yield from data.to_iter_dataset(ReadOptions(num_threads=threads, prefetch_buffer_size=2 * BATCH))


def spdl(paths, threads, scratch):
    import numpy as np
    from spdl.pipeline import PipelineBuilder

    def endless():
        while True:
            yield from paths

    yield READY
    pipeline = (PipelineBuilder().add_source(endless()).pipe(read, concurrency=threads).aggregate(BATCH)
                .pipe(np.stack).add_sink(2).build(num_threads=threads + 1))
    with pipeline.auto_stop():
        yield from pipeline


def torchvision_io(paths, threads, scratch):
    """Its own decoder (libjpeg-turbo) to tensors, transforms on tensors; antialias is what Pillow does."""
    import torch
    from torch.utils.data import DataLoader
    from torchvision import transforms
    from torchvision.io import ImageReadMode, decode_jpeg, read_file

    # Without antialias where this version cannot: that is less work, in the peer's favour.
    crop = transforms.RandomResizedCrop(SIDE)
    after = transforms.Compose([crop, transforms.RandomHorizontalFlip(), transforms.ConvertImageDtype(torch.float32),
                                transforms.Normalize(MEAN, STD)])

    class Decoded(Files):
        def __getitem__(self, index):
            return after(decode_jpeg(read_file(self.paths[index]), ImageReadMode.RGB))

    yield READY
    loader = DataLoader(Decoded(paths), batch_size=BATCH, shuffle=True, num_workers=threads, persistent_workers=True)
    while True:
        yield from loader


def dali(paths, threads, scratch):
    from nvidia.dali import fn, pipeline_def, types

    @pipeline_def(batch_size=BATCH, num_threads=threads, device_id=None, seed=1)
    def pipe():
        data, _ = fn.readers.file(files=paths, random_shuffle=True, name="reader")
        pixels = fn.decoders.image_random_crop(data, device="cpu", output_type=types.RGB,
                                               random_area=[0.08, 1.0], random_aspect_ratio=[3 / 4, 4 / 3])
        pixels = fn.resize(pixels, size=(SIDE, SIDE), interp_type=types.INTERP_LINEAR, antialias=True)
        return fn.crop_mirror_normalize(pixels, mirror=fn.random.coin_flip(), dtype=types.FLOAT, output_layout="CHW",
                                        mean=[255 * m for m in MEAN], std=[255 * s for s in STD])

    yield READY
    built = pipe()
    built.build()
    while True:
        (batch,) = built.run()
        yield batch.as_array()


def tf_data(paths, threads, scratch):
    """Decodes only the crop (decode_and_crop_jpeg), as its own ResNet example does."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)

    def one(path):
        data = tf.io.read_file(path)
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            tf.image.extract_jpeg_shape(data), tf.zeros([1, 0, 4]), area_range=(0.08, 1.0),
            aspect_ratio_range=(3 / 4, 4 / 3), max_attempts=10, use_image_if_no_bounding_boxes=True)
        window = tf.concat([begin[:2], size[:2]], 0)
        pixels = tf.image.decode_and_crop_jpeg(data, window, channels=3, dct_method="INTEGER_ACCURATE")
        pixels = tf.image.resize(pixels, (SIDE, SIDE), antialias=True)
        pixels = (tf.image.random_flip_left_right(pixels) / 255.0 - MEAN) / STD
        return tf.transpose(pixels, (2, 0, 1))

    yield READY
    options = tf.data.Options()
    options.threading.private_threadpool_size = threads
    data = (tf.data.Dataset.from_tensor_slices(paths).shuffle(len(paths)).repeat()
            .map(one, num_parallel_calls=threads).batch(BATCH).prefetch(2).with_options(options))
    yield from data.as_numpy_iterator()


def mxnet(paths, threads, scratch):
    import mxnet as mx

    record = mx.recordio.MXIndexedRecordIO(f"{scratch}/set.idx", f"{scratch}/set.rec", "w")
    for number, path in enumerate(paths):
        record.write_idx(number, mx.recordio.pack(mx.recordio.IRHeader(0, 0, number, 0), pathlib.Path(path).read_bytes()))
    record.close()
    yield READY
    batches = mx.io.ImageRecordIter(
        path_imgrec=f"{scratch}/set.rec", path_imgidx=f"{scratch}/set.idx", data_shape=(3, SIDE, SIDE), batch_size=BATCH,
        shuffle=True, rand_mirror=True, random_resized_crop=True, min_random_area=0.08, max_random_area=1,
        min_aspect_ratio=3 / 4, max_aspect_ratio=4 / 3, preprocess_threads=threads, verbose=False,
        **{f"mean_{c}": 255 * m for c, m in zip("rgb", MEAN)}, **{f"std_{c}": 255 * s for c, s in zip("rgb", STD)})
    while True:
        batches.reset()
        for batch in batches:
            yield batch.data[0].asnumpy()


def mosaicml(paths, threads, scratch):
    from streaming import MDSWriter, StreamingDataset
    from torch.utils.data import DataLoader

    with MDSWriter(out=f"{scratch}/mds", columns={"x": "bytes"}) as out:
        for path in paths:
            out.write({"x": pathlib.Path(path).read_bytes()})

    class Decoded(StreamingDataset):
        def __getitem__(self, index):
            return sample(super().__getitem__(index)["x"])

    yield READY
    data = Decoded(local=f"{scratch}/mds", shuffle=True, batch_size=BATCH, num_canonical_nodes=1)
    while True:
        yield from DataLoader(data, batch_size=BATCH, num_workers=threads)


def read_bytes(path):  # of a module, as the next one, since worker processes look them up by name
    return pathlib.Path(path).read_bytes()


def decoded(batch):
    import torch

    return torch.stack([torch.from_numpy(sample(data)) for data in batch])


def litdata(paths, threads, scratch):
    import litdata as ld

    ld.optimize(fn=read_bytes, inputs=paths, output_dir=f"{scratch}/lit",
                chunk_bytes="64MB", num_workers=1)

    yield READY
    while True:
        yield from ld.StreamingDataLoader(ld.StreamingDataset(f"{scratch}/lit", shuffle=True), batch_size=BATCH,
                                          num_workers=threads, collate_fn=decoded)


def ffcv(paths, threads, scratch):
    """The pictures' own bytes in its container, which by itself would encode them anew."""
    import numpy as np
    from ffcv.fields import RGBImageField
    from ffcv.fields.rgb_image import IMAGE_MODES, RandomResizedCropRGBImageDecoder
    from ffcv.loader import Loader, OrderOption
    from ffcv.transforms import NormalizeImage, RandomHorizontalFlip, ToTensor, ToTorchImage
    from ffcv.writer import DatasetWriter
    from PIL import Image

    class AsItIs(RGBImageField):
        def encode(self, destination, path, malloc):
            data = np.fromfile(path, np.uint8)
            with Image.open(path) as picture:
                destination["width"], destination["height"] = picture.size
            destination["mode"] = IMAGE_MODES["jpg"]
            destination["data_ptr"], storage = malloc(data.nbytes)
            storage[:] = data

    class Paths:
        def __len__(self):
            return len(paths)

        def __getitem__(self, index):
            return (paths[index],)

    DatasetWriter(f"{scratch}/set.beton", {"image": AsItIs()}, num_workers=1).from_indexed_dataset(Paths())
    yield READY
    mean, std = (255 * np.array(values) for values in (MEAN, STD))
    pipeline = [RandomResizedCropRGBImageDecoder((SIDE, SIDE)), RandomHorizontalFlip(),
                NormalizeImage(mean, std, np.float32), ToTensor(), ToTorchImage(channels_last=False)]
    loader = Loader(f"{scratch}/set.beton", batch_size=BATCH, num_workers=threads, order=OrderOption.RANDOM,
                    os_cache=True, drop_last=True, pipelines={"image": pipeline}, custom_fields={"image": RGBImageField})
    assert loader.reader.num_samples == len(paths) and len(loader) == len(paths) // BATCH
    while True:
        yield from (images for (images,) in loader)


PEERS = {  # name: (module that must be there, the loader)
    "torch-dataloader-pillow": ("torch", torch_dataloader),
    "webdataset-pillow": ("webdataset", webdataset),
    "grain-pillow": ("grain", grain),
    "spdl-pillow": ("spdl.pipeline", spdl),
    "torchvision-io": ("torchvision", torchvision_io),
    "dali-cpu": ("nvidia.dali", dali),
    "tf-data": ("tensorflow", tf_data),
    "mxnet": ("mxnet", mxnet),
    "mosaicml": ("streaming", mosaicml),
    "litdata": ("litdata", litdata),
    "ffcv": ("ffcv", ffcv),
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


def version_of(module):
    """Of the package that brought it, where its name tells (tensorflow-cpu); else as the module says."""
    top, last = module.split(".")[0], module.split(".")[-1]
    for package in importlib.metadata.packages_distributions().get(top, []):
        if last in package:
            return importlib.metadata.version(package)
    return getattr(sys.modules[module], "__version__", "?")


def check(batch):
    """That a batch is what a row stands for: float32 NCHW, of the range that normalised pictures have, none twice."""
    import numpy as np

    pixels = np.asarray(batch)
    assert pixels.shape == (BATCH, 3, SIDE, SIDE) and pixels.dtype == np.float32, (pixels.shape, pixels.dtype)
    for channel, (mean, std) in enumerate(zip(MEAN, STD)):
        low, high = pixels[:, channel].min(), pixels[:, channel].max()
        assert -mean / std - 0.01 < low < 0 < high < (1 - mean) / std + 0.01, (channel, low, high)
    assert len({picture.tobytes() for picture in pixels}) == BATCH  # crops differ even where pictures do not
    assert np.median(pixels.std(axis=(2, 3))) > 0.1  # not one colour


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
        batches = loader(paths, options.threads, scratch)
        assert next(batches) is READY
        begin = time.monotonic()
        shape = tuple(next(batches).shape)
        first = time.monotonic() - begin
        assert shape == (BATCH, 3, SIDE, SIDE), shape
        images, begin = 0, time.monotonic()
        while time.monotonic() - begin < options.seconds:
            images += len(next(batches))
        rate, peak_mib = images / (time.monotonic() - begin), peak[0]
        check(next(batches))  # at the end: before it, the loader would work ahead meanwhile
    return {"who": who, "version": version_of(module), "threads": options.threads, "images_per_second": rate,
            "first_batch_seconds": first, "peak_mib": peak_mib}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--who", choices=PEERS)
    parser.add_argument("--without", nargs="*", default=[], metavar="NAME", help="not these")
    options = parser.parse_args()
    if options.who:
        print(json.dumps(measure(options.who, options)), flush=True)
        os._exit(0)  # some loaders wait for their workers at the end
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and takes the loader that runs along
    rows, missing = [], {}
    for who in (name for name in PEERS if name not in options.without):
        package = PEERS[who][0].split(".")[0]
        if importlib.util.find_spec(package) is None:
            missing[who] = f"ModuleNotFoundError: No module named '{package}'"
            continue
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
