"""The same API without async: every verb runs on one background event loop, and the caller waits for it."""

from __future__ import annotations

import asyncio
import functools
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from .connect import connect as connect_async
from .memory import Handle, Memory, TurnHandle

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
    from pathlib import Path
    from types import TracebackType

    from .model import Context, Progress, Receipt, Scope, Settled
    from .settings import Settings

P = ParamSpec("P")
R = TypeVar("R")


class Portal:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="rememberd-blocking", daemon=True)
        self._thread.start()

    def wait(self, coroutine: Coroutine[Any, Any, R]) -> R:
        """Run a coroutine on the loop and wait for what it returns or raises."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _waited(
    verb: Callable[Concatenate[Handle, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[BlockingHandle, P], R]:
    @functools.wraps(verb)
    def call(self: BlockingHandle, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._portal.wait(verb(self._handle, *args, **kwargs))

    return call


class BlockingHandle:
    """Memory bound to one scope."""

    def __init__(self, handle: Handle, portal: Portal) -> None:
        self._handle = handle
        self._portal = portal

    @property
    def scope(self) -> Scope:
        return self._handle.scope

    @contextmanager
    def turn(self, *args: Any, **kwargs: Any) -> Iterator[BlockingTurn]:
        turn = self._handle.turn(*args, **kwargs)
        begun = self._portal.wait(turn.__aenter__())
        try:
            yield BlockingTurn(begun, self._portal)
        except BaseException as failure:
            if not self._portal.wait(turn.__aexit__(type(failure), failure, failure.__traceback__)):
                raise
        else:
            self._portal.wait(turn.__aexit__(None, None, None))

    ingest = _waited(Handle.ingest)
    query = _waited(Handle.query)
    history = _waited(Handle.history)
    window = _waited(Handle.window)
    add = _waited(Handle.add)
    get = _waited(Handle.get)
    list = _waited(Handle.list)
    revise = _waited(Handle.revise)
    delete = _waited(Handle.delete)
    versions = _waited(Handle.versions)
    stats = _waited(Handle.stats)


class BlockingTurn:
    """A turn while its block runs."""

    def __init__(self, turn: TurnHandle, portal: Portal) -> None:
        self._turn = turn
        self._portal = portal

    @property
    def id(self) -> str | None:
        return self._turn.id

    @property
    def context(self) -> Context:
        return self._turn.context

    @property
    def receipt(self) -> Receipt | None:
        return self._turn.receipt

    @property
    def thread(self) -> str | None:
        return self._turn.thread

    def reply(self, content: Any, **detail: Any) -> Receipt | None:
        return self._portal.wait(self._turn.reply(content, **detail))


def _scoped(
    verb: Callable[Concatenate[BlockingHandle, P], R],
) -> Callable[Concatenate[BlockingMemory, Scope, P], R]:
    @functools.wraps(verb)
    def call(self: BlockingMemory, scope: Scope, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return verb(self.of(scope), *args, **kwargs)

    return call


class BlockingMemory:
    """The memory of agents, without async."""

    def __init__(self, memory: Memory, portal: Portal) -> None:
        self._memory = memory
        self._portal = portal

    def of(self, scope: Scope | None = None, **bound: str | None) -> BlockingHandle:
        return BlockingHandle(self._memory.of(scope, **bound), self._portal)

    turn = _scoped(BlockingHandle.turn)
    ingest = _scoped(BlockingHandle.ingest)
    query = _scoped(BlockingHandle.query)
    history = _scoped(BlockingHandle.history)
    window = _scoped(BlockingHandle.window)
    add = _scoped(BlockingHandle.add)
    get = _scoped(BlockingHandle.get)
    list = _scoped(BlockingHandle.list)
    revise = _scoped(BlockingHandle.revise)
    delete = _scoped(BlockingHandle.delete)
    versions = _scoped(BlockingHandle.versions)
    stats = _scoped(BlockingHandle.stats)

    def settle(self, timeout: float = 30.0) -> Settled:
        return self._portal.wait(self._memory.settle(timeout))

    @property
    def operate(self) -> BlockingOperations:
        return BlockingOperations(self._memory, self._portal)

    def close(self) -> None:
        self._portal.wait(self._memory.close())
        self._portal.close()

    def __enter__(self) -> BlockingMemory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class BlockingOperations:
    """The operator's verbs, waited for; ``rebuild`` and ``backup`` give an iterator of their progress."""

    def __init__(self, memory: Memory, portal: Portal) -> None:
        self._operate = memory.operate
        self._portal = portal

    def rebuild(self, view: Any = "index", *, verify: bool = False) -> Iterator[Progress]:
        return self._steps(self._operate.rebuild(view, verify=verify))

    def backup(self, file: Path | str) -> Iterator[Progress]:
        return self._steps(self._operate.backup(file))

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        call = getattr(self._operate, verb)

        @functools.wraps(call)
        def wait(*args: Any, **kwargs: Any) -> Any:
            return self._portal.wait(call(*args, **kwargs))

        return wait

    def _steps(self, steps: AsyncIterator[Progress]) -> Iterator[Progress]:
        while (progress := self._portal.wait(_next(steps))) is not None:
            yield progress


async def _next(steps: Any) -> Progress | None:
    return await anext(steps, None)


def connect(
    url: str | Path | None = None,
    *,
    api_key: str | None = None,
    settings: Settings | None = None,
    enable_memory: bool | None = None,
) -> BlockingMemory:
    """Open memory, as ``rememberd.connect`` does."""
    portal = Portal()

    async def opened() -> Memory:
        return await connect_async(url, api_key=api_key, settings=settings, enable_memory=enable_memory)

    try:
        return BlockingMemory(portal.wait(opened()), portal)
    except BaseException:
        portal.close()
        raise
