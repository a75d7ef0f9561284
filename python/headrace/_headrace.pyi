"""The library under the package headrace; not an interface of its own."""

from collections.abc import Sequence
import enum
from typing import Annotated

import numpy
from numpy.typing import NDArray


class Tail(enum.Enum):
    keep = 0

    drop = 1

    pad = 2

    wrap = 3

class Ledger:
    @property
    def asked(self) -> int: ...

    @property
    def delivered(self) -> int: ...

    @property
    def substituted(self) -> int: ...

    @property
    def skipped(self) -> int: ...

    @property
    def dropped(self) -> int: ...

    @property
    def padded(self) -> int: ...

    @property
    def quarantined(self) -> int: ...

class State:
    @property
    def epoch(self) -> int: ...

    @property
    def position(self) -> int: ...

    def to_text(self) -> str: ...

    @staticmethod
    def parse(arg: str, /) -> State: ...

    @staticmethod
    def merge(arg: Sequence[State], /) -> State: ...

class Augment(enum.Enum):
    random_resized_crop = 0

    center_crop = 1

    pad_crop = 2

    none = 3

    crop = 4

    crop_color = 5

    crop_color_transform = 6

class Orient(enum.Enum):
    stored = 0

    exif = 1

class Colours(enum.Enum):
    stored = 0

    srgb = 1

class Jitter:
    def __init__(self) -> None: ...

    @property
    def brightness(self) -> float: ...

    @brightness.setter
    def brightness(self, arg: float, /) -> None: ...

    @property
    def contrast(self) -> float: ...

    @contrast.setter
    def contrast(self, arg: float, /) -> None: ...

    @property
    def saturation(self) -> float: ...

    @saturation.setter
    def saturation(self, arg: float, /) -> None: ...

    @property
    def hue(self) -> float: ...

    @hue.setter
    def hue(self, arg: float, /) -> None: ...

class Adjust(enum.Enum):
    brightness = 0

    contrast = 1

    saturation = 2

    hue = 3

class DrawnJitter:
    @property
    def order(self) -> list[Adjust]: ...

    @property
    def brightness(self) -> float: ...

    @property
    def contrast(self) -> float: ...

    @property
    def saturation(self) -> float: ...

    @property
    def hue(self) -> float: ...

class HlsShift:
    @property
    def hue(self) -> int: ...

    @property
    def lightness(self) -> int: ...

    @property
    def saturation(self) -> int: ...

class PassOrder(enum.Enum):
    pillow12 = 0

    pillow13 = 1

class Layout(enum.Enum):
    nhwc_u8 = 0

    nchw_u8 = 1

    nchw_f32 = 2

    nchw_f16 = 3

    nchw_bf16 = 4

class Filter(enum.Enum):
    nearest = 0

    box = 1

    bilinear = 2

    hamming = 3

    bicubic = 4

    lanczos = 5

class Transform:
    def __init__(self) -> None: ...

    @property
    def augment(self) -> Augment: ...

    @augment.setter
    def augment(self, arg: Augment, /) -> None: ...

    @property
    def width(self) -> int: ...

    @width.setter
    def width(self, arg: int, /) -> None: ...

    @property
    def height(self) -> int: ...

    @height.setter
    def height(self, arg: int, /) -> None: ...

    @property
    def resize(self) -> int: ...

    @resize.setter
    def resize(self, arg: int, /) -> None: ...

    @property
    def filter(self) -> Filter: ...

    @filter.setter
    def filter(self, arg: Filter, /) -> None: ...

    @property
    def pass_order(self) -> PassOrder: ...

    @pass_order.setter
    def pass_order(self, arg: PassOrder, /) -> None: ...

    @property
    def grey(self) -> bool: ...

    @grey.setter
    def grey(self, arg: bool, /) -> None: ...

    @property
    def layout(self) -> Layout: ...

    @layout.setter
    def layout(self, arg: Layout, /) -> None: ...

    @property
    def mean(self) -> list[float]: ...

    @mean.setter
    def mean(self, arg: Sequence[float], /) -> None: ...

    @property
    def std(self) -> list[float]: ...

    @std.setter
    def std(self, arg: Sequence[float], /) -> None: ...

    @property
    def jitter(self) -> Jitter: ...

    @jitter.setter
    def jitter(self, arg: Jitter, /) -> None: ...

    @property
    def erase(self) -> float: ...

    @erase.setter
    def erase(self, arg: float, /) -> None: ...

    @property
    def orient(self) -> Orient: ...

    @orient.setter
    def orient(self, arg: Orient, /) -> None: ...

    @property
    def colours(self) -> Colours: ...

    @colours.setter
    def colours(self, arg: Colours, /) -> None: ...

    def to_text(self) -> str: ...

class Params:
    @property
    def source(self) -> tuple[int, int, int, int]: ...

    @property
    def scaled_width(self) -> int: ...

    @property
    def scaled_height(self) -> int: ...

    @property
    def crop_left(self) -> int: ...

    @property
    def crop_top(self) -> int: ...

    @property
    def flip(self) -> bool: ...

    @property
    def warp(self) -> list[float] | None: ...

    @property
    def hls(self) -> HlsShift | None: ...

    @property
    def jitter(self) -> DrawnJitter | None: ...

    @property
    def erase(self) -> tuple[int, int, int, int]: ...

def params_for(transform: Transform, *, seed: int, epoch: int, sample_id: int, width: int, height: int) -> Params: ...

class LabelBase(enum.Enum):
    automatic = 0

    zero = 1

    one = 2

class RecordioParts(enum.Enum):
    automatic = 0

    dmlc = 1

    sagemaker = 2

class OpenOptions:
    def __init__(self) -> None: ...

    @property
    def format(self) -> str: ...

    @format.setter
    def format(self, arg: str, /) -> None: ...

    @property
    def list(self) -> str: ...

    @list.setter
    def list(self, arg: str, /) -> None: ...

    @property
    def list_root(self) -> str: ...

    @list_root.setter
    def list_root(self, arg: str, /) -> None: ...

    @property
    def attribute_names(self) -> list[str]: ...

    @attribute_names.setter
    def attribute_names(self, arg: Sequence[str], /) -> None: ...

    @property
    def image_key(self) -> str: ...

    @image_key.setter
    def image_key(self, arg: str, /) -> None: ...

    @property
    def label_key(self) -> str: ...

    @label_key.setter
    def label_key(self, arg: str, /) -> None: ...

    @property
    def label_base(self) -> LabelBase: ...

    @label_base.setter
    def label_base(self, arg: LabelBase, /) -> None: ...

    @property
    def recordio_parts(self) -> RecordioParts: ...

    @recordio_parts.setter
    def recordio_parts(self, arg: RecordioParts, /) -> None: ...

    @property
    def skip_root_files(self) -> bool: ...

    @skip_root_files.setter
    def skip_root_files(self, arg: bool, /) -> None: ...

    @property
    def classes(self) -> list[str]: ...

    @classes.setter
    def classes(self, arg: Sequence[str], /) -> None: ...

class Batch:
    def __len__(self) -> int: ...

    @property
    def epoch(self) -> int: ...

    @property
    def step(self) -> int: ...

    @property
    def images(self) -> NDArray: ...

    @property
    def labels(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]: ...

    @property
    def positions(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...

    @property
    def sample_ids(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...

    @property
    def padding(self) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,))]: ...

    @property
    def substitute(self) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,))]: ...

class OnBad(enum.Enum):
    error = 0

    skip = 1

    substitute = 2

class Proportions:
    @property
    def repeat(self) -> list[float]: ...

    @repeat.setter
    def repeat(self, arg: Sequence[float], /) -> None: ...

    @property
    def shares(self) -> list[float]: ...

    @shares.setter
    def shares(self, arg: Sequence[float], /) -> None: ...

    @property
    def epoch_samples(self) -> int: ...

    @epoch_samples.setter
    def epoch_samples(self, arg: int, /) -> None: ...

class SelectionOptions:
    @property
    def proportions(self) -> Proportions: ...

    @proportions.setter
    def proportions(self, arg: Proportions, /) -> None: ...

    @property
    def class_weights(self) -> list[tuple[str, float]]: ...

    @class_weights.setter
    def class_weights(self, arg: Sequence[tuple[str, float]], /) -> None: ...

    @property
    def sample_weights(self) -> str: ...

    @sample_weights.setter
    def sample_weights(self, arg: str, /) -> None: ...

class LoaderOptions:
    @property
    def batch(self) -> int: ...

    @batch.setter
    def batch(self, arg: int, /) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

    @property
    def shuffle(self) -> str: ...

    @shuffle.setter
    def shuffle(self, arg: str, /) -> None: ...

    @property
    def selection(self) -> SelectionOptions: ...

    @selection.setter
    def selection(self, arg: SelectionOptions, /) -> None: ...

    @property
    def first_epoch(self) -> int: ...

    @first_epoch.setter
    def first_epoch(self, arg: int, /) -> None: ...

    @property
    def epochs(self) -> int: ...

    @epochs.setter
    def epochs(self, arg: int, /) -> None: ...

    @property
    def rank(self) -> int: ...

    @rank.setter
    def rank(self, arg: int, /) -> None: ...

    @property
    def world(self) -> int: ...

    @world.setter
    def world(self, arg: int, /) -> None: ...

    @property
    def tail(self) -> Tail: ...

    @tail.setter
    def tail(self, arg: Tail, /) -> None: ...

    @property
    def threads(self) -> int: ...

    @threads.setter
    def threads(self, arg: int, /) -> None: ...

    @property
    def budget_bytes(self) -> int: ...

    @budget_bytes.setter
    def budget_bytes(self, arg: int, /) -> None: ...

    @property
    def max_requests(self) -> int: ...

    @max_requests.setter
    def max_requests(self, arg: int, /) -> None: ...

    @property
    def depth(self) -> int: ...

    @depth.setter
    def depth(self, arg: int, /) -> None: ...

    @property
    def transform(self) -> Transform: ...

    @transform.setter
    def transform(self, arg: Transform, /) -> None: ...

    @property
    def pin(self) -> bool: ...

    @pin.setter
    def pin(self, arg: bool, /) -> None: ...

    @property
    def on_bad(self) -> OnBad: ...

    @on_bad.setter
    def on_bad(self, arg: OnBad, /) -> None: ...

    @property
    def max_bad(self) -> float: ...

    @max_bad.setter
    def max_bad(self, arg: float, /) -> None: ...

    @property
    def quarantine(self) -> str: ...

    @quarantine.setter
    def quarantine(self, arg: str, /) -> None: ...

    @property
    def partial_reads(self) -> bool: ...

    @partial_reads.setter
    def partial_reads(self, arg: bool, /) -> None: ...

class EpochReport:
    @property
    def epoch(self) -> int: ...

    @property
    def ledger(self) -> Ledger: ...

    @property
    def seconds(self) -> float: ...

    @property
    def order_digest(self) -> str: ...

    @property
    def set_digest(self) -> str: ...

    @property
    def in_parts(self) -> int: ...

    @property
    def metrics(self) -> dict[str, int]: ...

class Mode(enum.Enum):
    direct = 0

    file = 1

    stream = 2

    keep = 3

    fastfile = 4

    pipe = 5

class SnapshotUse(enum.Enum):
    none = 0

    refresh = 1

    reuse = 2

class SnapshotKeeping:
    def __init__(self) -> None: ...

    @property
    def use(self) -> SnapshotUse: ...

    @use.setter
    def use(self, arg: SnapshotUse, /) -> None: ...

    @property
    def file(self) -> str: ...

    @file.setter
    def file(self, arg: str, /) -> None: ...

class JobOptions:
    def __init__(self) -> None: ...

    @property
    def uri(self) -> str: ...

    @uri.setter
    def uri(self, arg: str, /) -> None: ...

    @property
    def with_sets(self) -> list[str]: ...

    @with_sets.setter
    def with_sets(self, arg: Sequence[str], /) -> None: ...

    @property
    def mode(self) -> Mode | None: ...

    @mode.setter
    def mode(self, arg: Mode | None, /) -> None: ...

    @property
    def local(self) -> str: ...

    @local.setter
    def local(self, arg: str, /) -> None: ...

    @property
    def keep_dir(self) -> str: ...

    @keep_dir.setter
    def keep_dir(self, arg: str, /) -> None: ...

    @property
    def keep_bytes(self) -> int: ...

    @keep_bytes.setter
    def keep_bytes(self, arg: int, /) -> None: ...

    @property
    def medium(self) -> str: ...

    @medium.setter
    def medium(self, arg: str, /) -> None: ...

    @property
    def expect(self) -> str: ...

    @expect.setter
    def expect(self, arg: str, /) -> None: ...

    @property
    def pipe_dir(self) -> str: ...

    @pipe_dir.setter
    def pipe_dir(self, arg: str, /) -> None: ...

    @property
    def pipe_wait(self) -> float: ...

    @pipe_wait.setter
    def pipe_wait(self, arg: float, /) -> None: ...

    @property
    def snapshot(self) -> SnapshotKeeping: ...

    @snapshot.setter
    def snapshot(self, arg: SnapshotKeeping, /) -> None: ...

    @property
    def open(self) -> OpenOptions: ...

    @open.setter
    def open(self, arg: OpenOptions, /) -> None: ...

    @property
    def loader(self) -> LoaderOptions: ...

    @loader.setter
    def loader(self, arg: LoaderOptions, /) -> None: ...

    @property
    def resume(self) -> State | None: ...

    @resume.setter
    def resume(self, arg: State | None, /) -> None: ...

class Job:
    @staticmethod
    def open(options: JobOptions) -> Job: ...

    def next(self) -> Batch | None: ...

    def close(self) -> None: ...

    def epoch_report(self) -> EpochReport: ...

    def state(self) -> State: ...

    @property
    def mode(self) -> Mode: ...

    @property
    def format(self) -> str: ...

    @property
    def stands_on(self) -> str: ...

    @property
    def samples(self) -> int: ...

    @property
    def sets(self) -> list[int]: ...

    @property
    def classes(self) -> list[str]: ...

    @property
    def steps_per_epoch(self) -> int: ...

    def notices(self) -> list[tuple[str, str, int]]: ...
