# SPDX-License-Identifier: Apache-2.0
"""Training data, from where it is kept to the accelerator that waits for it.

    import headrace

    with headrace.Loader("s3://bucket/train", 64, output="torch") as loader:
        for epoch in range(10):
            for images, labels in loader:
                ...

Order, bytes and batches are the same in every mode, with any number of threads, ranks and
restarts. Threads: a Loader is used by one thread at a time.
"""

from .errors import (
    CancelledError,
    ChangedError,
    CorruptError,
    DeniedError,
    ExhaustedError,
    HeadraceError,
    InvalidError,
    NotFoundError,
    UnavailableError,
)
from .loader import Batch, Loader

__all__ = [
    "Batch",
    "CancelledError",
    "ChangedError",
    "CorruptError",
    "DeniedError",
    "ExhaustedError",
    "HeadraceError",
    "InvalidError",
    "Loader",
    "NotFoundError",
    "UnavailableError",
]
