"""The index of a large store deleted and rebuilt: how long it takes, and whether it is as it was.

``python -m bench.rebuild [MESSAGES]``; without embedding. Exits with 1 if it is not equal, or takes over 5 minutes.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path

from rememberd import wiring
from rememberd.memory import Memory
from rememberd.settings import load_settings

LIMIT = 300.0
_USERS = 200
_TEXT = (
    "我想买 一台 笔记本电脑 预算 红色 雨伞 过敏 酒精 轻薄 粉底 下周三 会议 地址 北京 上海 快递 退货 发票 "
    "laptop budget umbrella allergy foundation meeting address invoice refund light cheap Tuesday tea coffee train"
)
_WORDS = _TEXT.split()
_SETTINGS = {"models.embedder": "none", "tokens.encoding": "estimate", "database.synchronous": "OFF"}


async def _open(folder: Path) -> Memory:
    settings = load_settings(environment={}, dotenv=None, given=_SETTINGS)
    return Memory((await wiring.open_folder(folder, settings)).engine)


async def _fill(memory: Memory, messages: int) -> None:
    chosen = random.Random(1)
    for begin in range(0, messages, 500):
        said = [" ".join(chosen.choices(_WORDS, k=chosen.randint(5, 40))) for _ in range(min(500, messages - begin))]
        user = f"user-{begin // 500 % _USERS}"
        await memory.of(user=user, thread=f"t-{begin}").ingest(said)
    while not (await memory.settle(600)).settled:
        pass


async def _found(memory: Memory) -> list[list[tuple[str, float]]]:
    chosen = random.Random(2)
    questions = [(f"user-{chosen.randrange(_USERS)}", " ".join(chosen.choices(_WORDS, k=3))) for _ in range(50)]
    contexts = [await memory.of(user=user).query(text, k=20) for user, text in questions]
    return [[(hit.id, hit.score) for hit in context.raw] for context in contexts]


async def measure(messages: int) -> bool:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "memory"
        began = time.perf_counter()
        async with await _open(folder) as memory:
            await _fill(memory, messages)
            found, digest = await _found(memory), await memory.engine._parts.index.digest()  # type: ignore[attr-defined]
        print(f"{messages:,} messages recorded and indexed in {time.perf_counter() - began:.1f} s")
        for file in folder.glob("index.db*"):
            file.unlink()
        async with await _open(folder) as memory:
            began = time.perf_counter()
            async for _ in memory.operate.rebuild():
                pass
            took = time.perf_counter() - began
            equal = digest == await memory.engine._parts.index.digest()  # type: ignore[attr-defined]
            same = found == await _found(memory)
    print(f"rebuilt in {took:.1f} s, {messages / took:,.0f} messages/s (at most {LIMIT:.0f} s)")
    print(f"digests {'equal' if equal else 'DIFFERENT'}, answers to 50 queries {'equal' if same else 'DIFFERENT'}")
    return equal and same and took <= LIMIT


if __name__ == "__main__":
    sys.exit(0 if asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)) else 1)
