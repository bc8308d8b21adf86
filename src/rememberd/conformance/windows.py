"""The promises of windows held ready: they may forget at any time, so a check takes None or the truth."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rememberd.model import Message, Receipt, Receipts, ThreadState, WindowRule
from rememberd.ports.windows import HeldWindow

from . import expect
from .check import windows_promise
from .samples import DISTINCT_IDS, HOUR, append, entry
from .trial import WindowsTrial, moment

if TYPE_CHECKING:
    from rememberd.ports.records import Append

RULE = WindowRule(size=3, ttl=HOUR)


@windows_promise
async def a_window_is_got_as_it_was_put(trial: WindowsTrial) -> None:
    window = _window(trial, "one", "two")
    await trial.windows.put(window, RULE)
    await _expect(trial, window)


@windows_promise
async def a_window_that_was_never_put_is_not_held(trial: WindowsTrial) -> None:
    expect.equal(await trial.windows.get(trial.tenant, "t"), None)
    await trial.windows.extend(*_appended(append(trial.tenant, "one"), 1), RULE)
    await trial.windows.touch(trial.tenant, "t", moment(9))
    expect.equal(await trial.windows.get(trial.tenant, "t"), None)


@windows_promise
async def a_put_replaces_what_was_held(trial: WindowsTrial) -> None:
    await trial.windows.put(_window(trial, "one", "two"), RULE)
    longer = _window(trial, "one", "two", "three")
    await trial.windows.put(longer, RULE)
    await _expect(trial, longer)


@windows_promise
async def an_append_is_followed(trial: WindowsTrial) -> None:
    window = _window(trial, "one")
    await trial.windows.put(window, RULE)
    said = entry("two", role="assistant", name="Mei", at=moment(-5), metadata={"k": [1]})
    operation = append(trial.tenant, said, agent="seller", at=moment(10))
    await trial.windows.extend(*_appended(operation, 2), RULE)
    added = Message(
        id=said.id,
        tenant=trial.tenant,
        thread="t",
        seq=2,
        user="lin",
        agent="seller",
        role="assistant",
        name="Mei",
        content="two",
        at=moment(-5),
        recorded_at=moment(10),
        metadata={"k": [1]},
    )
    state = replace(window.state, last_seq=2, last_used=moment(10))
    await _expect(trial, HeldWindow(state, (*window.messages, added)))


@windows_promise
async def a_window_keeps_to_the_size_of_the_rule(trial: WindowsTrial) -> None:
    await trial.windows.put(_window(trial, "one", "two"), RULE)
    await trial.windows.extend(*_appended(append(trial.tenant, "three", "four"), 3), RULE)
    await _expect_contents(trial, ["two", "three", "four"], last_seq=4)


@windows_promise
async def system_messages_count_but_are_not_held(trial: WindowsTrial) -> None:
    await trial.windows.put(_window(trial, "one"), RULE)
    said = append(trial.tenant, entry("rule", role="system"), "three", entry("end", role="system"))
    await trial.windows.extend(*_appended(said, 2), RULE)
    await _expect_contents(trial, ["one", "three"], last_seq=4)


@windows_promise
async def duplicates_change_nothing(trial: WindowsTrial) -> None:
    window = _window(trial, "one")
    await trial.windows.put(window, RULE)
    operation = append(trial.tenant, "one", at=moment(30))
    duplicate = Receipts("t", (Receipt(window.messages[0].id, 1, "duplicate"),))
    await trial.windows.extend(operation, duplicate, RULE)
    await _expect(trial, window)


@windows_promise
async def only_what_was_recorded_is_added(trial: WindowsTrial) -> None:
    await trial.windows.put(_window(trial, "one"), RULE)
    operation = append(trial.tenant, "one", "two")
    receipts = Receipts("t", (Receipt("first", 1, "duplicate"), Receipt(operation.entries[1].id, 2, "recorded")))
    await trial.windows.extend(operation, receipts, RULE)
    await _expect_contents(trial, ["one", "two"], last_seq=2)


@windows_promise
async def an_append_follows_to_the_thread_of_its_receipts(trial: WindowsTrial) -> None:
    await trial.windows.put(_window(trial, "one"), RULE)
    operation = append(trial.tenant, "two", thread="made up", made_up=True)
    await trial.windows.extend(operation, Receipts("t", _receipts(operation, 2)), RULE)
    await _expect_contents(trial, ["one", "two"], last_seq=2)
    expect.equal(await trial.windows.get(trial.tenant, "made up"), None)


@windows_promise
async def a_new_session_begins_after_the_ttl_of_the_append(trial: WindowsTrial) -> None:
    await trial.windows.put(_window(trial, "one", "two"), RULE)
    await trial.windows.extend(*_appended(append(trial.tenant, "three", at=moment(3_600)), 3), RULE)
    await _expect_contents(trial, ["one", "two", "three"], last_seq=3)
    await trial.windows.extend(*_appended(append(trial.tenant, "four", "five", at=moment(7_201)), 4), RULE)
    await _expect_contents(trial, ["four", "five"], last_seq=5, session_from=3)


@windows_promise
async def a_touch_notes_the_use_and_does_not_turn_it_back(trial: WindowsTrial) -> None:
    window = _window(trial, "one")
    await trial.windows.put(window, RULE)
    await trial.windows.touch(trial.tenant, "t", moment(60))
    await trial.windows.touch(trial.tenant, "t", moment(30))
    await _expect(trial, replace(window, state=replace(window.state, last_used=moment(60))))


@windows_promise
async def an_append_that_leaves_a_gap_drops_the_window(trial: WindowsTrial) -> None:
    await trial.windows.put(_window(trial, "one"), RULE)
    await trial.windows.extend(*_appended(append(trial.tenant, "three"), 3), RULE)
    expect.equal(await trial.windows.get(trial.tenant, "t"), None)
    await trial.windows.extend(*_appended(append(trial.tenant, "two"), 2), RULE)
    expect.equal(await trial.windows.get(trial.tenant, "t"), None)


@windows_promise
async def a_window_read_before_an_append_is_not_held_after_it(trial: WindowsTrial) -> None:
    read_early = _window(trial, "one")
    await trial.windows.extend(*_appended(append(trial.tenant, "two"), 2), RULE)
    await trial.windows.put(read_early, RULE)
    expect.equal(await trial.windows.get(trial.tenant, "t"), None)
    read_late = _window(trial, "one", "two")
    await trial.windows.put(read_late, RULE)
    await trial.windows.put(read_early, RULE)
    await _expect(trial, read_late)


@windows_promise
async def windows_of_other_threads_and_tenants_are_apart(trial: WindowsTrial) -> None:
    for name in DISTINCT_IDS:
        await trial.windows.put(_window(trial, name, thread=name), RULE)
    await trial.windows.extend(*_appended(append(trial.tenant, "more", thread="a"), 2), RULE)
    for name in DISTINCT_IDS:
        held = await trial.windows.get(trial.tenant, name)
        contents = [name, "more"] if name == "a" else [name]
        expect.true(held is None or [m.content for m in held.messages] == contents, f"{name!r} holds {held!r}")
    expect.equal(await trial.windows.get(trial.tenant + "-other", "a"), None)


@windows_promise
async def clearing_forgets_all_windows(trial: WindowsTrial) -> None:
    await trial.windows.put(_window(trial, "one"), RULE)
    await trial.windows.clear()
    expect.equal(await trial.windows.get(trial.tenant, "t"), None)


def _window(trial: WindowsTrial, *contents: str, thread: str = "t") -> HeldWindow:
    state = ThreadState(
        tenant=trial.tenant, thread=thread, user="lin", last_seq=len(contents), session_from=0, last_used=moment()
    )
    messages = tuple(
        Message(
            id=f"{seq}",
            tenant=trial.tenant,
            thread=thread,
            seq=seq,
            user="lin",
            agent=None,
            role="user",
            name=None,
            content=content,
            at=moment(),
            recorded_at=moment(),
            position=seq,
        )
        for seq, content in enumerate(contents, start=1)
    )
    return HeldWindow(state, messages)


def _appended(operation: Append, first_seq: int) -> tuple[Append, Receipts]:
    """An append and the receipts it would be answered with if its first entry got this sequence number."""
    return operation, Receipts(operation.thread, _receipts(operation, first_seq))


def _receipts(operation: Append, first_seq: int) -> tuple[Receipt, ...]:
    return tuple(Receipt(each.id, seq, "recorded") for seq, each in enumerate(operation.entries, start=first_seq))


async def _expect(trial: WindowsTrial, window: HeldWindow) -> None:
    held = await trial.windows.get(trial.tenant, window.state.thread)
    if held is not None:
        expect.equal(held, window)


async def _expect_contents(trial: WindowsTrial, contents: list[str], *, last_seq: int, session_from: int = 0) -> None:
    held = await trial.windows.get(trial.tenant, "t")
    if held is not None:
        expect.equal([message.content for message in held.messages], contents)
        expect.equal((held.state.last_seq, held.state.session_from), (last_seq, session_from))
