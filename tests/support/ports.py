# SPDX-License-Identifier: Apache-2.0
"""A port of this machine that nobody listens on."""

import socket


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
