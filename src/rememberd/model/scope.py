"""The address of data: which tenant, user, agent and thread it belongs to."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_TENANT = "default"


@dataclass(frozen=True, slots=True)
class Scope:
    """A field left out means *shared at that level*.

    A read sees what is bound to the same user and agent, and what leaves them unbound; never anyone
    else's. ``thread`` bounds the window and the history, not recall.
    """

    tenant: str = DEFAULT_TENANT
    user: str | None = None
    agent: str | None = None
    thread: str | None = None

    def sees(self, user: str | None, agent: str | None) -> bool:
        """Whether data of this tenant bound to ``user`` and ``agent`` may be read from here."""
        return (user is None or user == self.user) and (agent is None or agent == self.agent)

    def within(self, thread: str | None) -> Scope:
        return self if thread == self.thread else Scope(self.tenant, self.user, self.agent, thread)
