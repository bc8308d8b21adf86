"""An agent that remembers across two sessions: ``python examples/two_sessions.py [FOLDER or URL]``."""

from __future__ import annotations

import asyncio
import sys

import rememberd


async def agent(messages: list[dict[str, str]]) -> str:
    """Stands for a model: it repeats the first thing that memory told it, below the title and the date."""
    recalled = [message["content"] for message in messages if message["role"] == "system"]
    return f"I remember: {recalled[0].splitlines()[2]}" if recalled else "Nice to meet you."


async def main(place: str) -> None:
    async with rememberd.connect(place) as memory:
        for thread, said in [("first-visit", "我对酒精过敏，想找轻薄的粉底。"), ("second-visit", "哪款粉底适合我？")]:
            lin = memory.of(user="lin", thread=thread)
            async with lin.turn(said) as turn:
                reply = await agent(turn.context.openai())
                await turn.reply(reply)
            print(f"{thread}\n  lin:   {said}\n  agent: {reply}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "./memory"))
