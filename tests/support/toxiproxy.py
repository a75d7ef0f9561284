# SPDX-License-Identifier: Apache-2.0
"""A bad or a slow network before a server of this machine, by Shopify's toxiproxy (docs/DEPENDENCIES.md)."""

import contextlib
import json
import os
import shutil
import subprocess
import time
import urllib.request

from ports import free_port

PROGRAM = os.environ.get("HEADRACE_TOXIPROXY") or shutil.which("toxiproxy-server")


@contextlib.contextmanager
def network(program, upstream, toxics):
    """What goes to the port that this gives reaches the port `upstream`, with these toxics (toxiproxy's words)."""
    api, port = free_port(), free_port()
    process = subprocess.Popen([program, "-host", "127.0.0.1", "-port", str(api)], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def post(path, what):
        direct.open(urllib.request.Request(f"http://127.0.0.1:{api}{path}", json.dumps(what).encode())).close()

    try:
        until = time.monotonic() + 20
        while True:
            try:
                post("/proxies", {"name": "link", "listen": f"127.0.0.1:{port}", "upstream": f"127.0.0.1:{upstream}",
                                  "enabled": True})
                break
            except OSError:
                assert time.monotonic() < until, "toxiproxy does not answer"
                time.sleep(0.05)
        for toxic in toxics:
            post("/proxies/link/toxics", toxic)
        yield port
    finally:
        process.terminate()
        process.wait()
