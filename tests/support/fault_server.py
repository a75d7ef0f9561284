# SPDX-License-Identifier: Apache-2.0
"""The S3 server that misbehaves on order (tests/fault_server), as a context."""

import json
import os
import subprocess

from cli import BUILD

PROGRAM = BUILD / "headrace-s3-fault-server"


class FaultServer:
    """Serves a folder as s3://b; `faults` are shares of the requests, by the names of --help."""

    def __init__(self, folder, *options, seed=1, **faults):
        rates = [f"{name.replace('_', '-')}={rate}" for name, rate in faults.items()]
        self.command = [PROGRAM, folder, "--seed", str(seed), *map(str, options), *rates]
        self.report = None

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.env = {**os.environ, "AWS_ENDPOINT_URL": self.process.stdout.readline().strip(),
                    "AWS_ACCESS_KEY_ID": "AKTEST", "AWS_SECRET_ACCESS_KEY": "secret",
                    "AWS_REGION": "us-east-1"}
        return self

    def __exit__(self, *_):
        out, _ = self.process.communicate()  # closes its input, which ends it
        self.report = json.loads(out)
        assert self.process.returncode == 0
