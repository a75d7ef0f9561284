# SPDX-License-Identifier: Apache-2.0
"""A bad network before the real S3 server: toxiproxy, where it is installed (docs/DEPENDENCIES.md says how).

What it does to connections, a server of ours that misbehaves on order cannot do: it knows no HTTP."""

import pytest
from cli import headrace_json
from toxiproxy import PROGRAM, network

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="toxiproxy-server is not on the PATH")
TOXICS = {  # what happens to the bytes of every connection, or of the share that `toxicity` names
    "slow": [{"type": "latency", "attributes": {"latency": 30, "jitter": 20}},
             {"type": "bandwidth", "attributes": {"rate": 2000}}],  # kB/s
    "in crumbs": [{"type": "slicer", "attributes": {"average_size": 700, "size_variation": 600, "delay": 50}}],
    "reset": [{"type": "reset_peer", "toxicity": 0.2, "attributes": {"timeout": 20}}],
    "cut": [{"type": "limit_data", "toxicity": 0.3, "attributes": {"bytes": 1500}}],
}


# Promise M5: What an S3 server does wrong now and then changes no byte and no order.
@pytest.mark.parametrize("name", TOXICS)
def test_a_bad_network_changes_nothing(name, labelled, labelled_s3, s3_environment):
    def read(uri, env):
        result = headrace_json("read", uri, "--batch", 16, "--seed", 7, "--epochs", 2, "--mode",
                               "direct" if env is None else "stream", env=env)
        return result["epochs"]

    server = s3_environment["HEADRACE_TEST_S3_ENDPOINT"].rstrip("/").rsplit(":", 1)[1]
    toxics = [{"stream": "downstream", **toxic} for toxic in TOXICS[name]]
    with network(PROGRAM, server, toxics) as port:
        env = {**s3_environment, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}
        got = read(labelled_s3, env)
    expected = read(labelled, None)
    for field in ("order_digest", "set_digest"):
        assert [epoch[field] for epoch in got] == [epoch[field] for epoch in expected]
    if name in ("reset", "cut"):
        assert sum(epoch["retries"] for epoch in got) > 0
