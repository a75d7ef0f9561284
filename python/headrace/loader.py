# SPDX-License-Identifier: Apache-2.0
"""Batches of labelled pictures, epoch by epoch."""

from __future__ import annotations

import atexit
import os
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from . import _headrace
from .errors import InvalidError

if TYPE_CHECKING:
    import numpy as np

_ENDLESS = 1 << 32  # epochs, where the caller does not say how many

_WANTED = {
    bool: "True or False",
    int: "a whole number that is not below 0",
    float: "a number",
    str: "a string",
    list: "a number for each name",
}

_open_loaders: weakref.WeakSet[Loader] = weakref.WeakSet()


def _choose(kind: Any, name: str, value: str) -> Any:
    """The enumerator of that name; InvalidError names the others."""
    for choice in kind:
        if choice.name == value:
            return choice
    names = ", ".join(choice.name for choice in kind)
    raise InvalidError(f"unknown {name} {value!r}", remedy=f"choose one of {names}")


def _set(target: Any, attribute: str, name: str, value: Any) -> None:
    """Sets an option; a value that does not fit is refused by the name that the caller knows."""
    try:
        setattr(target, attribute, value)
    except TypeError:
        wanted = _WANTED.get(type(getattr(target, attribute)), "another type")
        raise TypeError(f"{name} cannot be {value!r}: {wanted} is wanted") from None


def _floats(name: str, values: Any, wanted: int | None = None) -> list[float]:
    try:
        floats = [float(value) for value in values]
    except (TypeError, ValueError):
        raise TypeError(f"{name} cannot be {values!r}: a list of numbers is wanted") from None
    if wanted is not None and len(floats) != wanted:
        raise InvalidError(f"{name} has {len(floats)} numbers", remedy=f"give {wanted}")
    return floats


def _uris(uri: Any) -> list[str]:
    if not isinstance(uri, (str, os.PathLike, Iterable)) or isinstance(uri, bytes):
        raise TypeError(f"uri cannot be {uri!r}: a path, a URI or a list of them is wanted")
    uris = [uri] if isinstance(uri, (str, os.PathLike)) else [*uri]
    if not uris:
        raise InvalidError("no data set is named", remedy="name one, or several to join")
    return [str(one) for one in uris]


def _weights_file(weights: Sequence[float]) -> Any:
    """A weight a line; the file ends with the object."""
    file = tempfile.NamedTemporaryFile("w", prefix="headrace-weights-")
    file.writelines(f"{float(weight)!r}\n" for weight in weights)
    file.flush()
    return file


class Batch:
    """Unpacks as `images, labels`; the rest says which samples these are.

    `images` is the loader's own memory, not a copy: it lives as long as any array or tensor made
    of it, and is then used again.
    """

    __slots__ = ("_native", "images", "labels")

    def __init__(self, native: _headrace.Batch, images: Any, labels: Any) -> None:
        self._native = native
        self.images = images
        self.labels = labels

    def __iter__(self) -> Iterator[Any]:
        return iter((self.images, self.labels))

    def __len__(self) -> int:
        """Samples in it: less than the batch size at an epoch's end, or after bad samples."""
        return len(self._native)

    @property
    def epoch(self) -> int:
        return self._native.epoch

    @property
    def step(self) -> int:
        """From 0 in each epoch; the same on all ranks."""
        return self._native.step

    @property
    def positions(self) -> np.ndarray:
        """Each sample's place in the epoch's order, over all ranks."""
        return self._native.positions

    @property
    def sample_ids(self) -> np.ndarray:
        """Each sample's number in the data set's canonical order."""
        return self._native.sample_ids

    @property
    def padding(self) -> np.ndarray:
        """True for slots that only fill up the batch (tail="pad")."""
        return self._native.padding

    @property
    def substitute(self) -> np.ndarray:
        """True for samples that stand in for a bad one (on_bad="substitute")."""
        return self._native.substitute


class Loader:
    """Delivers a data set in batches; iterating over it once is one epoch.

    A `for` loop that is left early goes on where it was, in the next loop; one that is left at
    the last batch is done with its epoch. After the last of `epochs` the loop body is not
    entered any more. Of a state that was taken at an epoch's last batch, before its loop ended,
    the first loop is empty.

    Args:
        uri: a path, s3://bucket/prefix or nfs://host/export/path; several of them are read as one
            set, in their order, with classes joined by name.
        batch_size: samples a batch, on each rank.
        mode: direct, file, stream, keep, fastfile or pipe; by default keep for s3://, direct for a path.
        seed: of order and augmentation.
        rank, world_size: this process and how many there are; together they deliver each
            epoch's samples once.
        epochs: how many will be asked for; it is read ahead across their ends, up to there.
        shuffle: global; blocks or blocks:SAMPLESxRUNS (long reads, a weaker shuffle); node or
            node:NODES (each node keeps its part of the set); balanced (every class equally
            often); none.
        repeat: how often each set comes in an epoch, a number a set; 0.5: half of its samples in
            one epoch, the others in the next.
        shares: what of an epoch is of each set, a number a set.
        epoch_samples: length of an epoch; 0 for the sets', as often as they come.
        class_weights: how often samples of a class come, by its name; others weigh 1.
        sample_weights: of each sample, in canonical order; or a file with one a line.
        tail: keep (the last batch is short), drop (it is left out), pad (it is filled up, and
            `padding` marks what fills it), wrap (filled up and not marked).
        image_shape: channels (1 or 3), height, width.
        augment: random_resized_crop, center_crop, pad_crop or none; crop, crop_color or
            crop_color_transform as SageMaker's built-in classifier.
        jitter: of brightness, contrast, saturation and hue, as torchvision's ColorJitter; after
            the flip.
        erase: the probability of torchvision's RandomErasing; zeros, after the normalisation.
        orient: "exif" turns pictures as their EXIF says, "stored" does not.
        colours: "srgb" follows embedded colour profiles, "stored" takes the samples as they are.
        layout: nchw_f32, nchw_f16 or nchw_bf16 (normalised by mean and std), nchw_u8 or nhwc_u8.
            NumPy has no bfloat16: as arrays, its bits come as int16.
        resize: the shorter side before center_crop and the three crops; 0 leaves it.
        filter: of the resize: bilinear, bicubic, lanczos, box, hamming or nearest.
        threads: that decode; 0 for the processors this process may use.
        pin: page-lock the batches' memory, so that copies to a GPU can be `non_blocking`; with
            CUDA, import torch and use the GPU once before.
        on_bad: error, skip or substitute a damaged picture.
        quarantine: a file to which bad samples are written, a line of JSON each.
        partial_reads: mode keep: from the second epoch on, read of a JPEG only what its crop needs.
        pipe_dir: mode pipe: the folder in which another program writes the FIFOs.
        pipe_wait: seconds until a FIFO is there, and until bytes come in it; 0: 60 and 600. What is
            waited for is said to the logger "headrace", as a warning.
        list: a .lst, .csv or manifest that names and labels the samples.
        list_root: what a manifest calls the root, where this is a copy.
        attribute_names: of an augmented manifest, in order; empty: found out.
        classes: the training set's class names, for a validation set.
        snapshot: "refresh" lists and keeps what was listed in `snapshot_file`; "reuse" takes what
            was kept and lists nothing.
        expect: lustre, nfs, fuse or local; a path that stands on anything else is refused.
        output: numpy arrays or torch tensors, of the same memory.
        labels: "int64": shape [n] where samples have one label, and [n, width] where more;
            "float32": [n, width], as they are.
    """

    def __init__(
        self,
        uri: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        batch_size: int,
        mode: str | None = None,
        seed: int = 0,
        rank: int = 0,
        world_size: int = 1,
        *,
        epochs: int | None = None,
        first_epoch: int = 0,
        shuffle: str = "global",
        repeat: Sequence[float] = (),
        shares: Sequence[float] = (),
        epoch_samples: int = 0,
        class_weights: Mapping[str, float] | None = None,
        sample_weights: str | os.PathLike[str] | Sequence[float] | None = None,
        tail: Literal["keep", "drop", "pad", "wrap"] = "keep",
        image_shape: tuple[int, int, int] = (3, 224, 224),
        augment: str = "random_resized_crop",
        layout: str = "nchw_f32",
        resize: int = 256,
        filter: str = "bilinear",
        mean: Sequence[float] = (0.485, 0.456, 0.406),
        std: Sequence[float] = (0.229, 0.224, 0.225),
        jitter: Sequence[float] = (0, 0, 0, 0),
        erase: float = 0,
        orient: Literal["stored", "exif"] = "stored",
        colours: Literal["stored", "srgb"] = "stored",
        threads: int = 0,
        budget_bytes: int = 256 << 20,
        pin: bool = False,
        on_bad: Literal["error", "skip", "substitute"] = "error",
        max_bad: float = 1.0,
        quarantine: str = "",
        local: str = "",
        keep_dir: str = "",
        partial_reads: bool = False,
        medium: str = "",
        pipe_dir: str = "",
        pipe_wait: float = 0,
        list: str = "",
        snapshot: Literal["refresh", "reuse"] | None = None,
        snapshot_file: str = "",
        expect: str = "",
        list_root: str = "",
        attribute_names: Sequence[str] = (),
        classes: Sequence[str] = (),
        output: Literal["numpy", "torch"] = "numpy",
        labels: Literal["int64", "float32"] = "int64",
    ) -> None:
        self._job: _headrace.Job | None = None
        if output not in ("numpy", "torch"):
            raise InvalidError(f"unknown output {output!r}", remedy="choose numpy or torch")
        if labels not in ("int64", "float32"):
            raise InvalidError(f"unknown labels {labels!r}", remedy="choose int64 or float32")
        if len(image_shape) != 3:
            raise InvalidError(f"image_shape is {image_shape!r}", remedy="say channels, height, width")
        channels, height, width = image_shape
        if channels not in (1, 3):
            raise InvalidError(f"image_shape has {channels} channels", remedy="1 or 3 are possible")
        options = _headrace.JobOptions()
        options.uri, *options.with_sets = _uris(uri)
        options.mode = None if mode is None else _choose(_headrace.Mode, "mode", mode)
        options.local = str(local)
        options.keep_dir = str(keep_dir)
        _set(options, "medium", "medium", medium)
        options.pipe_dir = str(pipe_dir)
        _set(options, "pipe_wait", "pipe_wait", pipe_wait)
        options.open.list = str(list)
        _set(options, "expect", "expect", expect)
        options.snapshot.file = str(snapshot_file)
        if snapshot is not None:
            options.snapshot.use = _choose(_headrace.SnapshotUse, "snapshot", snapshot)
        _set(options.open, "list_root", "list_root", list_root)
        options.open.attribute_names = [*attribute_names]
        options.open.classes = [*classes]
        loader = options.loader
        _set(loader, "batch", "batch_size", batch_size)
        _set(loader, "seed", "seed", seed)
        _set(loader, "shuffle", "shuffle", shuffle)
        selection = loader.selection
        selection.proportions.repeat = _floats("repeat", repeat)
        selection.proportions.shares = _floats("shares", shares)
        _set(selection.proportions, "epoch_samples", "epoch_samples", epoch_samples)
        pairs = [*(class_weights or {}).items()]
        _set(selection, "class_weights", "class_weights", pairs)
        if isinstance(sample_weights, (str, os.PathLike)):
            selection.sample_weights = str(sample_weights)
        elif sample_weights is not None:
            self._weights = _weights_file(sample_weights)  # as long as this loader, which may reopen
            selection.sample_weights = self._weights.name
        _set(loader, "first_epoch", "first_epoch", first_epoch)
        _set(loader, "epochs", "epochs", _ENDLESS if epochs is None else epochs)
        _set(loader, "rank", "rank", rank)
        _set(loader, "world", "world_size", world_size)
        loader.tail = _choose(_headrace.Tail, "tail", tail)
        _set(loader, "threads", "threads", threads)
        _set(loader, "budget_bytes", "budget_bytes", budget_bytes)
        _set(loader, "pin", "pin", pin)
        loader.on_bad = _choose(_headrace.OnBad, "on_bad", on_bad)
        _set(loader, "max_bad", "max_bad", max_bad)
        loader.quarantine = str(quarantine)
        _set(loader, "partial_reads", "partial_reads", partial_reads)
        transform = loader.transform
        transform.grey = channels == 1
        _set(transform, "height", "height", height)
        _set(transform, "width", "width", width)
        transform.augment = _choose(_headrace.Augment, "augment", augment)
        transform.layout = _choose(_headrace.Layout, "layout", layout)
        _set(transform, "resize", "resize", resize)
        transform.filter = _choose(_headrace.Filter, "filter", filter)
        transform.mean = _floats("mean", mean, 3)
        transform.std = _floats("std", std, 3)
        drawn = transform.jitter
        drawn.brightness, drawn.contrast, drawn.saturation, drawn.hue = _floats("jitter", jitter, 4)
        _set(transform, "erase", "erase", erase)
        transform.orient = _choose(_headrace.Orient, "orient", orient)
        transform.colours = _choose(_headrace.Colours, "colours", colours)
        self._options = options
        self._torch = output == "torch"
        self._bfloat16 = layout == "nchw_bf16"
        self._whole_labels = labels == "int64"
        self._reports: dict[int, dict[str, Any]] = {}
        self._open()

    def _open(self) -> None:
        self._job = _headrace.Job.open(self._options)
        self._left_at_last = False
        _open_loaders.add(self)

    def _opened(self) -> _headrace.Job:
        if self._job is None:
            raise InvalidError("this loader is closed")
        return self._job

    def __iter__(self) -> Iterator[Batch]:
        job = self._opened()
        if self._left_at_last:  # the end of that epoch was not asked for yet
            job.next()
            self._note_end(job)
        while (native := job.next()) is not None:
            self._left_at_last = native.step + 1 == job.steps_per_epoch
            yield self._batch(native)
        self._note_end(job)

    def _note_end(self, job: _headrace.Job) -> None:
        self._left_at_last = False
        report = job.epoch_report()
        self._reports[report.epoch] = _as_dict(report)

    def _batch(self, native: _headrace.Batch) -> Batch:
        images = native.images
        labels = native.labels
        if self._whole_labels:
            labels = labels.astype("int64")
            if labels.shape[1] == 1:
                labels = labels[:, 0]
        if self._torch:
            import torch

            images = torch.from_numpy(images)
            if self._bfloat16:
                images = images.view(torch.bfloat16)
            labels = torch.from_numpy(labels)
        return Batch(native, images, labels)

    def __len__(self) -> int:
        """Batches in an epoch."""
        return self._opened().steps_per_epoch

    @property
    def mode(self) -> str:
        return self._opened().mode.name

    @property
    def samples(self) -> int:
        """In the whole data set, over all ranks."""
        return self._opened().samples

    @property
    def sets(self) -> list[int]:
        """Samples of each set, where `uri` names several; they follow each other."""
        return self._opened().sets

    @property
    def classes(self) -> list[str]:
        """Class names by label; empty where the data set has only numbers."""
        return self._opened().classes

    @property
    def epoch(self) -> int:
        """The epoch that the next batch is of."""
        return self._opened().state().epoch

    @property
    def notices(self) -> list[tuple[str, str, int]]:
        """What is worth knowing, once each: kind, first text, how often."""
        return self._opened().notices()

    @property
    def reports(self) -> dict[int, dict[str, Any]]:
        """Of each epoch that ended in this process: ledger, digests, seconds, counters."""
        return dict(self._reports)

    def state_dict(self) -> dict[str, Any]:
        """Where this rank stands, after the last batch that the caller got."""
        return {"version": 1, "state": self._opened().state().to_text()}

    def load_state_dict(self, state: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> None:
        """Goes on from there. The data set, seed and global batch must be the same.

        Where the number of ranks is another now, a list of the states of all ranks that were.
        A state that is refused changes nothing.
        """
        states = [_state_of(one) for one in ([state] if not _is_list(state) else state)]
        resume = states[0] if len(states) == 1 else _headrace.State.merge(states)
        before = None if self._job is None else self._job.state()
        left_at_last = self._left_at_last
        self.close()
        try:
            self._options.resume = resume
            self._open()
        except BaseException:
            self._options.resume = before
            if before is not None:
                self._open()
                self._left_at_last = left_at_last
            raise

    def close(self) -> None:
        """Ends the loader's threads. Arrays that it delivered stay valid."""
        if self._job is not None:
            self._job.close()
            self._job = None

    def __repr__(self) -> str:
        uris = ", ".join([self._options.uri, *self._options.with_sets])
        if self._job is None:
            return f"<headrace.Loader of {uris}: closed>"
        batch = self._options.loader.batch
        return f"<headrace.Loader of {uris}: mode {self.mode}, {self.samples} samples, batches of {batch}>"

    def __reduce__(self) -> Any:
        raise TypeError(
            "a headrace.Loader cannot be pickled or copied: its threads belong to this process "
            "(open it where it is used, such as in __iter__ of a worker's data set, and hand over "
            "state_dict())"
        )

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and len(value) > 0


def _state_of(state: Any) -> _headrace.State:
    known = isinstance(state, Mapping) and state.get("version") == 1
    if not known or not isinstance(state.get("state"), str):
        raise InvalidError(
            "this is no state of a headrace.Loader", remedy="give what state_dict() returned"
        )
    return _headrace.State.parse(state["state"])


def _as_dict(report: _headrace.EpochReport) -> dict[str, Any]:
    ledger = report.ledger
    counted = ("asked", "delivered", "substituted", "skipped", "dropped", "padded", "quarantined")
    return {
        "epoch": report.epoch,
        **{name: getattr(ledger, name) for name in counted},
        "seconds": report.seconds,
        "order_digest": report.order_digest,
        "set_digest": report.set_digest,
        "digest_basis": "blocks" if report.in_parts else "payload",
        "samples_in_parts": report.in_parts,
        **report.metrics,
    }


@atexit.register
def _close_all() -> None:
    """Threads end before the interpreter does."""
    for loader in list(_open_loaders):
        loader.close()
