# SPDX-License-Identifier: Apache-2.0
"""Run by TensorFlow's own Python: reads or writes a TFRecord of tf.Example, and says so as JSON.

    tensorflow_tool.py read FILE [GZIP|ZLIB]             every record, in order
    tensorflow_tool.py write FOLDER FILE [GZIP|ZLIB]     a class folder, in canonical order
"""
import hashlib
import json
import pathlib
import sys

import tensorflow as tf


def read(path, compression=""):
    features = {"image/encoded": tf.io.FixedLenFeature([], tf.string),
                "image/class/label": tf.io.FixedLenFeature([], tf.int64),
                "image/filename": tf.io.FixedLenFeature([], tf.string)}
    for record in tf.data.TFRecordDataset(path, compression_type=compression):
        example = tf.io.parse_single_example(record, features)
        payload = example["image/encoded"].numpy()
        yield {"label": int(example["image/class/label"]), "name": example["image/filename"].numpy().decode(),
               "sha256": hashlib.sha256(payload).hexdigest()}


def write(folder, path, compression=""):
    root = pathlib.Path(folder)
    keys = sorted(p.relative_to(root).as_posix().encode() for p in root.rglob("*") if p.is_file())
    classes = sorted({key.split(b"/")[0] for key in keys})
    with tf.io.TFRecordWriter(path, compression) as writer:
        for key in keys:
            label = classes.index(key.split(b"/")[0])
            example = tf.train.Example(features=tf.train.Features(feature={
                "image/encoded": tf.train.Feature(
                    bytes_list=tf.train.BytesList(value=[(root / key.decode()).read_bytes()])),
                "image/class/label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
                "image/filename": tf.train.Feature(bytes_list=tf.train.BytesList(value=[key]))}))
            writer.write(example.SerializeToString(deterministic=True))
    yield {"records": len(keys)}


ACTIONS = {"read": read, "write": write}
json.dump(list(ACTIONS[sys.argv[1]](*sys.argv[2:])), sys.stdout)
