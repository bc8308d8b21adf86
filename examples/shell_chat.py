"""A chat in the terminal that remembers, without async: ``python examples/shell_chat.py USER``."""

from __future__ import annotations

import sys

import rememberd


def main(user: str) -> None:
    with rememberd.blocking.connect("./memory") as memory:
        me = memory.of(user=user)
        while said := sys.stdin.readline().strip():
            with me.turn(said, k=3, budget=300) as turn:
                turn.reply("Noted.")
            print(turn.context.text or "Nothing comes to mind.")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "me")
