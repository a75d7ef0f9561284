# SPDX-License-Identifier: Apache-2.0
"""Run by an environment with mosaicml-streaming: reads an MDS folder as it does, or writes one.

    streaming_tool.py read FOLDER                       every sample, in order, decoded
    streaming_tool.py write CLASSES FOLDER COMPRESSION  a class folder as MDS; "-" for none
"""
import hashlib
import io
import json
import pathlib
import sys
import types

from PIL import Image


def stand_in(name, **names):
    module = types.ModuleType(name)
    module.__dict__.update(names)
    sys.modules[name] = module


# What the package imports for its loaders of models and of well-known sets; local MDS needs none.
for name in ("transformers", "transformers.models", "transformers.models.auto", "torchvision",
             "torchvision.transforms"):
    stand_in(name, __path__=[])
stand_in("transformers.models.auto.tokenization_auto", AutoTokenizer=None)
stand_in("transformers.feature_extraction_utils", BatchFeature=type("BatchFeature", (), {}))
stand_in("transformers.tokenization_utils_base", BatchEncoding=type("BatchEncoding", (), {}))
stand_in("torchvision.datasets", VisionDataset=type("VisionDataset", (), {}))
stand_in("torchvision.transforms.functional", to_tensor=None)

from streaming import MDSWriter, StreamingDataset  # noqa: E402


def read(folder):
    for sample in StreamingDataset(local=folder, remote=None, batch_size=1, shuffle=False,
                                   validate_hash="xxh64"):
        image = sample["image"]
        pixels = (Image.open(io.BytesIO(image)) if isinstance(image, bytes) else image).convert("RGB")
        yield {"label": int(sample["label"]), "file": sample.get("file"),
               "size": pixels.size, "rgb": hashlib.sha256(pixels.tobytes()).hexdigest()}


def write(classes_folder, folder, compression):
    root = pathlib.Path(classes_folder)
    keys = sorted(p.relative_to(root).as_posix().encode() for p in root.rglob("*") if p.is_file())
    classes = sorted({key.split(b"/")[0] for key in keys})
    with MDSWriter(out=folder, columns={"image": "bytes", "label": "int"}, size_limit=1 << 15,
                   compression=None if compression == "-" else compression,
                   hashes=["sha1", "xxh64"]) as writer:
        for key in keys:
            writer.write({"image": (root / key.decode()).read_bytes(),
                          "label": classes.index(key.split(b"/")[0])})
    yield {"samples": len(keys)}


ACTIONS = {"read": read, "write": write}
json.dump(list(ACTIONS[sys.argv[1]](*sys.argv[2:])), sys.stdout)
