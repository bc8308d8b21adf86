"""What the core needs from the world, as small Protocols whose docstrings are promises.

Reads are methods of a port. Writes are frozen operations (``Append``, ``Put``, ``Enqueue`` …), each declared beside
the port it belongs to, and carried out together by ``Storage.write``: all or nothing.
"""

from __future__ import annotations
