# SPDX-License-Identifier: Apache-2.0
"""Run by an environment with webdataset: reads tars as it does, or writes one, and says so as JSON.

    webdataset_tool.py read FILE.tar...           every sample, in order
    webdataset_tool.py write FOLDER PATTERN       a class folder, 30 samples a shard
"""
import hashlib
import json
import pathlib
import sys

from webdataset import tariterators, writer


def read(*paths):
    urls = [{"url": path} for path in paths]
    files = tariterators.tar_file_expander(tariterators.url_opener(urls))
    for sample in tariterators.group_by_keys(files):
        fields = {name: value for name, value in sample.items() if not name.startswith("__")}
        yield {"key": sample["__key__"],
               "fields": {name: hashlib.sha256(value).hexdigest() for name, value in fields.items()},
               "label": int(fields["cls"]) if "cls" in fields else None}


def write(folder, pattern):
    root = pathlib.Path(folder)
    keys = sorted(p.relative_to(root).as_posix().encode() for p in root.rglob("*") if p.is_file())
    classes = sorted({key.split(b"/")[0] for key in keys})
    with writer.ShardWriter(pattern, maxcount=30, verbose=0) as shards:
        for key in keys:
            name = key.decode()
            shards.write({"__key__": name.rsplit(".", 1)[0], "jpg": (root / name).read_bytes(),
                          "cls": classes.index(key.split(b"/")[0])})
    yield {"samples": len(keys)}


ACTIONS = {"read": read, "write": write}
json.dump(list(ACTIONS[sys.argv[1]](*sys.argv[2:])), sys.stdout)
