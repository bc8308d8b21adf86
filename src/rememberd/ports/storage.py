"""The storage: where record and holdings live, and the one way to change them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from .api_keys import ApiKeys
    from .audit import Audit
    from .feed import Feed
    from .holdings import Holdings
    from .jobs import Jobs
    from .records import Records
    from .vectors import Vectors

R_co = TypeVar("R_co", covariant=True)


class Write(Generic[R_co]):
    """The base of every write operation; ``R_co`` is what carrying it out answers."""

    __slots__ = ()


class Storage(Protocol):
    """The bundle of storage ports over one place.

    Writes are serial: one transaction after the other, so that an operation sees everything committed before it.
    """

    @property
    def records(self) -> Records: ...
    @property
    def feed(self) -> Feed: ...
    @property
    def holdings(self) -> Holdings: ...
    @property
    def vectors(self) -> Vectors: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def audit(self) -> Audit: ...
    @property
    def api_keys(self) -> ApiKeys: ...

    @property
    def exclusive(self) -> bool:
        """Whether nobody else can write to this place, so that a view of it may be kept in memory."""
        ...

    @property
    def description(self) -> str:
        """The engine and its version, for people: ``SQLite 3.54.1``."""
        ...

    async def write(self, first: Write[R_co], /, *also: Write[Any]) -> R_co:
        """Carry out the operations in order, in one transaction; answer the first one's result.

        Returns after the commit is durable. If any operation raises, none of them happened.
        Raises ``StorageUnavailable`` or ``StorageFull`` when the place cannot be written.
        """
        ...

    def write_soon(self, operation: Write[Any], /) -> None:
        """Carry out the operation in the next group commit, not waited for.

        What a crash or a full disk may cost is counted (``storage.lost_soon``).
        """
        ...

    async def check(self) -> None:
        """Return if the storage answers; raise ``StorageUnavailable`` if not."""
        ...

    async def close(self) -> None:
        """Finish what was acknowledged and what was to be written soon, then let go of the place."""
        ...
