"""The tables as they are now, for writing statements. The migrations make them; a test shows that both agree."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, LargeBinary, MetaData, String, Table, Text

metadata = MetaData()

ID_LENGTH = 255


def _id(name: str, *, key: str | None = None, optional: bool = False, primary: bool = False) -> Column[str]:
    return Column(name, String(ID_LENGTH), key=key or name, nullable=optional, primary_key=primary)


def _text(name: str, *, optional: bool = False) -> Column[str]:
    return Column(name, Text, nullable=optional)


def _integer(name: str, *, optional: bool = False, primary: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=optional, primary_key=primary, autoincrement=False)


def _blob(name: str) -> Column[bytes]:
    return Column(name, LargeBinary, nullable=False)


feed_lock = Table("feed_lock", metadata, _integer("id", primary=True))

feed = Table(
    "feed", metadata, _integer("position", primary=True), _id("tenant"), _id("noun"), _id("id"), _id("operation")
)

threads = Table(
    "threads",
    metadata,
    _id("tenant", primary=True),
    _id("thread", primary=True),
    _id("user_id", key="user", optional=True),
    _integer("last_seq"),
    _integer("session_from"),
    _integer("last_used"),
)

messages = Table(
    "messages",
    metadata,
    _integer("position", primary=True),
    _id("id"),
    _id("tenant"),
    _id("thread"),
    _integer("seq"),
    _id("user_id", key="user", optional=True),
    _id("agent_id", key="agent", optional=True),
    _id("role"),
    _id("name", optional=True),
    _text("content"),
    _integer("at"),
    _integer("recorded_at"),
    _text("metadata"),
)

turns = Table(
    "turns",
    metadata,
    _id("tenant", primary=True),
    _id("id", primary=True),
    _id("entry", primary=True),
    _id("thread"),
    _id("user_id", key="user", optional=True),
    _id("agent_id", key="agent", optional=True),
    _integer("at"),
    _id("outcome", optional=True),
    _text("detail"),
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    _id("tenant", primary=True),
    _id("idempotency_key", primary=True),
    _blob("digest"),
    _id("answer"),
    _id("thread", optional=True),
    _integer("seq", optional=True),
)

memories = Table(
    "memories",
    metadata,
    _integer("position", primary=True),
    _id("tenant"),
    _id("id"),
    _integer("revision"),
    _id("user_id", key="user", optional=True),
    _id("agent_id", key="agent", optional=True),
    _id("thread", optional=True),
    _id("kind"),
    _text("text"),
    _text("source", optional=True),
    Column("importance", Double, nullable=False),
    _text("topic", optional=True),
    _text("domain", optional=True),
    _integer("at"),
    _integer("revised_at"),
    _integer("superseded_at", optional=True),
    _integer("valid_from", optional=True),
    _integer("valid_until", optional=True),
    _integer("expires_at", optional=True),
    _integer("deleted"),
    _text("metadata"),
)

vectors = Table(
    "vectors",
    metadata,
    _id("tenant", primary=True),
    _id("id", primary=True),
    _id("noun", primary=True),
    _id("lane", primary=True),
    _id("model", primary=True),
    _blob("data"),
)

spaces = Table("spaces", metadata, _id("lane", primary=True), _id("model", primary=True), _id("state"), _text("recipe"))

jobs = Table(
    "jobs",
    metadata,
    _id("id", primary=True),
    _id("tenant"),
    _id("task"),
    _text("payload"),
    _id("state"),
    _integer("due_at"),
    _integer("created_at"),
    _integer("attempts"),
    _integer("max_attempts"),
    _id("lease", optional=True),
    _integer("leased_until", optional=True),
    _text("error", optional=True),
)

audit_logs = Table(
    "audit_logs",
    metadata,
    _id("tenant", primary=True),
    _id("id", primary=True),
    _integer("at"),
    _text("actor"),
    _id("action"),
    _id("user_id", key="user", optional=True),
    _id("thread", optional=True),
    _text("detail"),
)

api_keys = Table(
    "api_keys",
    metadata,
    _id("id", primary=True),
    _id("digest"),
    _id("tenant", optional=True),
    _integer("operator"),
    _integer("created_at"),
    _integer("revoked_at", optional=True),
)

followers = Table("followers", metadata, _id("follower", primary=True), _integer("position"))
