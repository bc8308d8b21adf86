"""Every error that rememberd raises on purpose.

    RememberdError
    ├── InvalidRequest          the request is wrong; every fault is named            422
    │   └── TooLarge            the request is larger than the limits allow           413
    ├── NotAuthenticated        no API key, or one that is not known                  401
    ├── AccessDenied            the caller may not do this                            403
    ├── NotFound                nothing under that id in that scope                   404
    ├── Conflict                the request disagrees with what is stored             409
    │   ├── IdempotencyConflict the idempotency key was used for another body
    │   ├── ThreadTaken         the thread belongs to another user
    │   └── StaleRevision       somebody revised it in between
    ├── Unavailable             try again later                                       503
    │   ├── StorageUnavailable  the storage cannot be reached or written
    │   ├── StorageFull         the disk or quota is exhausted                        507
    │   ├── ServerUnreachable   the remote rememberd does not answer
    │   └── ModelUnavailable    a model is not there, is damaged, or does not answer
    ├── Unsupported             this store cannot do it; the error names what can         501
    ├── FolderInUse             another process owns the folder and does not serve
    ├── DamagedStore            what is on disk is not what was written
    ├── SettingsError           a setting is unknown, malformed or contradictory
    └── MissingExtra            an optional dependency is not installed; also an ImportError

The HTTP status is given for orientation; the mapping itself lives in ``server/problems.py``.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a request: where (a JSON pointer) and what."""

    pointer: str
    detail: str


class RememberdError(Exception):
    """The root: a sentence for people, a stable ``code`` for programs, and whether a retry can help."""

    code: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class InvalidRequest(RememberdError):
    code = "invalid_request"

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(f"{fault.pointer or 'request'}: {fault.detail}" for fault in faults))
        self.faults = tuple(faults)

    @classmethod
    def because(cls, pointer: str, detail: str) -> InvalidRequest:
        return cls([Fault(pointer, detail)])


class TooLarge(InvalidRequest):
    code = "too_large"


class NotAuthenticated(RememberdError):
    code = "not_authenticated"


class AccessDenied(RememberdError):
    code = "access_denied"


class NotFound(RememberdError):
    code = "not_found"


class Conflict(RememberdError):
    code = "conflict"


class IdempotencyConflict(Conflict):
    code = "idempotency_conflict"


class ThreadTaken(Conflict):
    code = "thread_taken"


class StaleRevision(Conflict):
    code = "stale_revision"


class Unavailable(RememberdError):
    code = "unavailable"
    retryable = True


class StorageUnavailable(Unavailable):
    code = "storage_unavailable"


class StorageFull(Unavailable):
    code = "storage_full"


def disk_failure(error: OSError, doing: str) -> Unavailable:
    """What the operating system says of a file, as an error of ours."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return StorageFull(f"{doing}: there is no room left; free some space and try again")
    return StorageUnavailable(f"{doing}: {error.strerror or error}")


class ServerUnreachable(Unavailable):
    code = "server_unreachable"


class ModelUnavailable(Unavailable):
    code = "model_unavailable"


class Unsupported(RememberdError):
    code = "unsupported"


class FolderInUse(RememberdError):
    code = "folder_in_use"


class DamagedStore(RememberdError):
    code = "damaged_store"


class SettingsError(RememberdError):
    code = "settings_error"


class MissingExtra(RememberdError, ImportError):
    code = "missing_extra"

    def __init__(self, extra: str, needed_for: str) -> None:
        super().__init__(f"{needed_for} needs an optional part: pip install 'rememberd[{extra}]'")
