# SPDX-License-Identifier: Apache-2.0
"""What stories share: data sets made once a run, and one real S3 server."""

import os
import pathlib
import subprocess
import uuid

import boto3
import pytest
import sets
from tree import ROOT
from volume import available


@pytest.fixture(scope="session")
def labelled(tmp_path_factory) -> pathlib.Path:
    """100 small pictures in 4 class folders."""
    return sets.folder(tmp_path_factory.mktemp("labelled") / "set")


@pytest.fixture(scope="session")
def packed(labelled, tmp_path_factory) -> pathlib.Path:
    """The same samples as one .rec with its .idx, not written by Headrace."""
    folder = tmp_path_factory.mktemp("packed")
    sets.recordio(folder / "train.rec", sets.samples(labelled))
    return folder


@pytest.fixture(scope="session")
def s3_environment(tmp_path_factory):
    """The server that scripts/test started, or one of our own for this run."""
    if "HEADRACE_TEST_S3_ENDPOINT" in os.environ:
        yield dict(os.environ)
        return
    folder = tmp_path_factory.mktemp("s3")
    server = ROOT / "scripts/s3-server"
    started = subprocess.run([server, "start", folder], capture_output=True, text=True, check=True)
    lines = [line.removeprefix("export ").split("=", 1) for line in started.stdout.splitlines()]
    try:
        yield {**os.environ, **{key: value.strip("'\"") for key, value in lines}}
    finally:
        subprocess.run([server, "stop", folder], check=True)


class Bucket:
    """A prefix of its own in the test bucket."""

    def __init__(self, env):
        self.env = env
        self.name = env["HEADRACE_TEST_S3_BUCKET"]
        self.prefix = f"story-{uuid.uuid4().hex[:8]}"
        self.client = boto3.client(
            "s3", endpoint_url=env["HEADRACE_TEST_S3_ENDPOINT"], region_name=env["AWS_REGION"],
            aws_access_key_id=env["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=env["AWS_SECRET_ACCESS_KEY"])

    def put(self, key: str, body: bytes):
        self.client.put_object(Bucket=self.name, Key=f"{self.prefix}/{key}", Body=body)

    def upload(self, folder: pathlib.Path, below: str) -> str:
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            self.put(f"{below}/{path.relative_to(folder).as_posix()}", path.read_bytes())
        return self.uri(below)

    def uri(self, below: str) -> str:
        return f"s3://{self.name}/{self.prefix}/{below}"


@pytest.fixture(scope="session")
def bucket(s3_environment) -> Bucket:
    return Bucket(s3_environment)


@pytest.fixture(scope="session")
def labelled_s3(bucket, labelled) -> str:
    return bucket.upload(labelled, "labelled")


@pytest.fixture(scope="session")
def packed_s3(bucket, packed) -> str:
    return bucket.upload(packed, "packed")


@pytest.fixture(scope="session")
def volumes(tmp_path_factory):
    """Where this is asked for, support/volume.py can make volumes."""
    if not available(tmp_path_factory.mktemp("probe")):
        pytest.skip("needs root and loop devices")


@pytest.fixture(scope="session")
def hang_disk(tmp_path_factory):
    """The environment of a process whose disk hangs; support/hang_disk.c says by which variables."""
    library = tmp_path_factory.mktemp("shim") / "hang_disk.so"
    source = ROOT / "tests/support/hang_disk.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return lambda **variables: {**os.environ, "LD_PRELOAD": str(library), "ASAN_OPTIONS": "verify_asan_link_order=0",
                                **{name: str(value) for name, value in variables.items()}}
