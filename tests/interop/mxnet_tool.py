# SPDX-License-Identifier: Apache-2.0
"""Run by MXNet's own Python: reads a .rec as MXNet does, or writes one, and says so as JSON.

    mxnet_tool.py read FILE.rec            every record, in order
    mxnet_tool.py read-indexed FILE.rec    every record, by FILE.idx
    mxnet_tool.py write FOLDER FILE.rec    a class folder, in canonical order
    mxnet_tool.py iterate FILE.rec         labels that ImageRecordIter delivers
"""
import hashlib
import json
import pathlib
import sys

from mxnet import recordio


def describe(record):
    header, payload = recordio.unpack(record)
    label = float(header.label) if not hasattr(header.label, "__len__") else [float(x) for x in header.label]
    return {"label": label, "id": int(header.id), "sha256": hashlib.sha256(payload).hexdigest()}


def read(path):
    reader = recordio.MXRecordIO(path, "r")
    while (record := reader.read()) is not None:
        yield describe(record)


def read_indexed(path):
    reader = recordio.MXIndexedRecordIO(str(pathlib.Path(path).with_suffix(".idx")), path, "r")
    for key in sorted(reader.keys):
        yield describe(reader.read_idx(key))


def write(folder, path):
    root = pathlib.Path(folder)
    keys = sorted(p.relative_to(root).as_posix().encode() for p in root.rglob("*") if p.is_file())
    classes = sorted({key.split(b"/")[0] for key in keys})
    writer = recordio.MXIndexedRecordIO(str(pathlib.Path(path).with_suffix(".idx")), path, "w")
    for number, key in enumerate(keys):
        header = recordio.IRHeader(0, float(classes.index(key.split(b"/")[0])), number, 0)
        writer.write_idx(number, recordio.pack(header, (root / key.decode()).read_bytes()))
    writer.close()
    yield {"records": len(keys)}


def iterate(path):
    import mxnet

    batches = mxnet.io.ImageRecordIter(
        path_imgrec=path, data_shape=(3, 32, 32), batch_size=1, resize=32, shuffle=False,
        preprocess_threads=1)
    for batch in batches:
        yield {"label": float(batch.label[0].asnumpy()[0])}


ACTIONS = {"read": read, "read-indexed": read_indexed, "write": write, "iterate": iterate}
json.dump(list(ACTIONS[sys.argv[1]](*sys.argv[2:])), sys.stdout)
