"""The index made again from storage: ``reindex --config FILE`` is ``rememberd rebuild --config FILE``."""

from __future__ import annotations

import sys

from rememberd.cli import main

if __name__ == "__main__":
    verb, *options = sys.argv[1:] or [""]
    if verb != "reindex":
        sys.exit("usage: memory_reindex.py reindex [--config FILE] [--data DIR] [--verify] [--json]")
    sys.exit(main(["rebuild", *options]))
