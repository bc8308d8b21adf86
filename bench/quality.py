"""How good recall is: what it finds, what fits the budget, when it is silent, and what each stage gives.

    python -m bench.quality --data DIR [--every 10] [--only locomo,memdaily,paraphrases,changed]

``DIR`` holds ``locomo.json``, ``memdaily-zh/`` and ``memorybank/``, as they are published; what is missing is left out.
Everything goes through ``rememberd.connect`` with the default models and settings. Embeddings are kept in a file in
``DIR`` (or ``--kept FILE``), so a second run is quicker.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from . import ablation, budget, changed, found, paraphrases, silence
from .embeddings import kept_embeddings
from .evidence import everyday_chat, locomo, memdaily
from .house import House

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .evidence import Case, Said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--every", type=int, default=10, help="take every so-manieth trajectory of MemDaily")
    parser.add_argument("--kept", type=Path, help="the file of the embeddings")
    parser.add_argument("--only", default="locomo,memdaily,paraphrases,changed")
    options = parser.parse_args()
    wanted = set(options.only.split(","))
    with kept_embeddings(options.kept or options.data / "rememberd-embeddings.db"):
        if "paraphrases" in wanted:
            paraphrases.report()
        if "changed" in wanted:
            changed.report()
        if "locomo" in wanted and _there(options.data / "locomo.json"):
            english(locomo(options.data))
        if "memdaily" in wanted and _there(options.data / "memdaily-zh"):
            chinese(memdaily(options.data, options.every), everyday_chat(options.data))


def _there(path: Path) -> bool:
    if not path.exists():
        print(f"\n{path} is not there, so it is left out")
    return path.exists()


def english(cases: list[Case]) -> None:
    with _housing(cases) as house:
        asked = found.ask_all(house, cases)
        found.report("LoCoMo", asked)
        budget.report("LoCoMo", asked)
        silence.report_english(house, cases, asked)
        ablation.report("LoCoMo", house, cases)


def chinese(cases: list[Case], chat: list[Said]) -> None:
    with _housing(cases, chat) as house:
        asked = found.ask_all(house, cases)
        found.report("MemDaily", asked)
        silence.report_chinese(house, cases, asked)
        ablation.report("MemDaily", house, cases)


def _housing(cases: list[Case], everybody: Sequence[Said] = ()) -> House:
    """A store in which each case is a user, who also sees what is everybody's."""
    house = House()
    house.record(None, everybody)
    for case in cases:
        house.record(case.name, case.said)
    house.settle()
    return house


if __name__ == "__main__":
    main()
