# SPDX-License-Identifier: Apache-2.0
"""The whole path by other means: pictures, cropped by torchvision, in batches of 64, by 2 workers.

    peer.py folder PATH EPOCHS            torchvision's ImageFolder
    peer.py s3torch s3://BUCKET/PREFIX EPOCHS   s3torchconnector, the same transform
    peer.py webdataset s3://BUCKET/PREFIX EPOCHS   WebDataset on the tars there, through `$S5CMD cat`

Run by bench/whole/run, with a Python that has torchvision. Prints one object of JSON; times count from
the moment that $BEGIN names, when the process was started.
"""
import io
import json
import os
import subprocess
import sys
import time

import torch
import torchvision
from PIL import Image

SIZE, BATCH, WORKERS = 224, 64, 2
TRANSFORM = torchvision.transforms.Compose([torchvision.transforms.RandomResizedCrop(SIZE),
                                            torchvision.transforms.RandomHorizontalFlip(),
                                            torchvision.transforms.ToTensor()])


def folder(where):
    return torchvision.datasets.ImageFolder(where, TRANSFORM)


def s3torch(where):
    from s3torchconnector import S3ClientConfig, S3MapDataset
    classes = {}

    def sample(found):
        name = found.key.split("/")[-2]
        picture = Image.open(io.BytesIO(found.read())).convert("RGB")
        return TRANSFORM(picture), classes.setdefault(name, len(classes))

    return S3MapDataset.from_prefix(where, region=os.environ["AWS_REGION"], endpoint=os.environ["AWS_ENDPOINT_URL"],
                                    transform=sample, s3client_config=S3ClientConfig(force_path_style=True))


def webdataset(where):
    import webdataset as wds
    cat = f"{os.environ['S5CMD']} --endpoint-url {os.environ['AWS_ENDPOINT_URL']}"
    listed = subprocess.run([*cat.split(), "ls", f"{where}/*.tar"], check=True, capture_output=True, text=True).stdout
    urls = [f"pipe:{cat} cat {where}/{line.split()[-1]}" for line in listed.splitlines()]
    return (wds.WebDataset(urls, shardshuffle=len(urls)).shuffle(1000).decode("pil").to_tuple("jpg", "cls")
            .map_tuple(TRANSFORM, int))


def main():
    by, where, epochs = sys.argv[1:]
    begin = float(os.environ["BEGIN"])
    data = {"folder": folder, "s3torch": s3torch, "webdataset": webdataset}[by](where)
    order = {} if by == "webdataset" else {"shuffle": True}  # it shuffles by itself
    loader = torch.utils.data.DataLoader(data, BATCH, num_workers=WORKERS, persistent_workers=True, **order)
    first, ends, count = None, [], 0
    for _ in range(int(epochs)):
        for pictures, _ in loader:
            assert pictures.dtype == torch.float32
            count += len(pictures)
            first = first or time.time() - begin
        ends.append(time.time() - begin)
    print(json.dumps({"first": first, "ends": ends, "samples": count}))


if __name__ == "__main__":
    main()
