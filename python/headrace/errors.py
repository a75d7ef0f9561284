# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, one class a code; the codes are those of the C++ library."""


class HeadraceError(Exception):
    """`str(error)` is one line: place, cause and, in parentheses, what can be done about it."""

    code: str = ""

    def __init__(self, cause: str, place: str = "", remedy: str = "") -> None:
        super().__init__(cause, place, remedy)
        self.cause = cause
        self.place = place
        self.remedy = remedy

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        remedy = f" ({self.remedy})" if self.remedy else ""
        return f"{place}{self.cause}{remedy}"


class InvalidError(HeadraceError, ValueError):
    """Something was asked for that cannot be: usage, configuration."""

    code = "invalid"


class NotFoundError(HeadraceError):
    """No such object, file or channel."""

    code = "not_found"


class DeniedError(HeadraceError):
    """Permission, credentials."""

    code = "denied"


class ChangedError(HeadraceError):
    """An object is no longer the one that was seen first."""

    code = "changed"


class CorruptError(HeadraceError):
    """Bytes are not what they claim to be."""

    code = "corrupt"


class UnavailableError(HeadraceError):
    """May succeed later: the network, a throttled or broken server. It was retried."""

    code = "unavailable"


class ExhaustedError(HeadraceError):
    """Disk, memory, descriptors, or a limit that was set."""

    code = "exhausted"


class CancelledError(HeadraceError):
    """A stop was asked for."""

    code = "cancelled"


_BY_CODE = {kind.code: kind for kind in HeadraceError.__subclasses__()}


def from_code(code: str, cause: str, place: str, remedy: str) -> HeadraceError:
    """The exception of one of the library's error values; the module raises it."""
    return _BY_CODE[code](cause, place, remedy)
