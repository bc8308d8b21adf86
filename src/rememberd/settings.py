"""Settings: ``config/memory.yaml``, overridden by ``.env`` and the environment; each value knows its origin."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from . import crash
from .errors import SettingsError
from .model import BackupRule, Policy, SettingValue, WindowRule

_PREFIX = "REMEMBERD_"
_CONFIG = "REMEMBERD_CONFIG"
_DEFAULT_FILE = Path("config/memory.yaml")


@dataclass(frozen=True, slots=True)
class Setting:
    """``environment`` lists the variables that set it, besides the one made from its name."""

    name: str
    default: str | int | float | bool | None
    about: str
    kind: type = str
    choices: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    secret: bool = False

    @property
    def variables(self) -> tuple[str, ...]:
        return (_PREFIX + self.name.upper().replace(".", "_"), *self.environment)


TABLE: dict[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting("memory.enabled", True, "whether `connect` opens memory; if not, verbs answer empty", bool),
        Setting("data.folder", "./memory", "the folder of the embedded store", environment=("REMEMBERD_DATA",)),
        Setting(
            "database.dsn", None, "a database server instead of the folder",
            environment=("REMEMBERD_STORAGE",), secret=True,
        ),
        Setting("database.pool_size", 5, "connections kept to the database server", int),
        Setting("database.max_overflow", 10, "connections beyond these under load", int),
        Setting("database.timeout", 10.0, "seconds that a call waits for the database server, over all it asks", float),
        Setting("database.lock_timeout", 5.0, "seconds to wait for a lock that another program has on SQLite", float),
        Setting(
            "database.synchronous", "FULL", "how SQLite commits; all but FULL may lose writes",
            choices=("FULL", "NORMAL", "OFF"),
        ),
        Setting(
            "failure_queue.folder", None,
            "where messages wait while the storage cannot be written; by default `spool` in the data folder",
        ),
        Setting("failure_queue.memory_limit", 1000, "waiting calls held in memory; the others are on disk only", int),
        Setting("failure_queue.file_bytes", 8_388_608, "the size from which on a new file is begun", int),
        Setting("failure_queue.max_bytes", 1_073_741_824, "what all files may have together; then 507", int),
        Setting("failure_queue.batch_size", 100, "waiting calls brought to the storage at once", int),
        Setting("failure_queue.max_attempts", 5, "refusals after which a call is a dead letter", int),
        Setting("failure_queue.first_pause", 0.5, "seconds until the storage is tried again, then doubled", float),
        Setting("failure_queue.longest_pause", 10.0, "seconds that such a pause may have", float),
        Setting("window.size", 20, "messages in a window", int),
        Setting("window.ttl", 3600.0, "seconds after its last use that a window lives", float),
        Setting(
            "models.embedder", "auto", "what makes vectors; `auto`: the fetched models, if they are there",
            choices=("auto", "none", "openai", "fastembed", "test"),
        ),
        Setting(
            "models.folder", None, "the folder of the fetched models; by default in the user's cache",
            environment=("REMEMBERD_MODELS",),
        ),
        Setting(
            "models.bridge", "none", "what finds Chinese by English questions and back, beside the fetched models",
            choices=("none", "use"),
        ),
        Setting("models.source", None, "where `models pull` fetches from: a folder of jars, or a Maven repository"),
        Setting("models.url", None, "the endpoint of `openai`, such as http://127.0.0.1:8000/v1"),
        Setting("models.path", None, "the folder of the model of `fastembed`"),
        Setting("models.name", None, "the model that the endpoint is asked for, or that is in `models.path`"),
        Setting("models.dimension", None, "the dimension of its vectors", int),
        Setting("models.api_key", None, "the endpoint's API key", secret=True),
        Setting(
            "tokens.encoding", "auto", "how tokens are counted; `auto`: o200k_base, if its vocabulary is there",
            choices=("auto", "o200k_base", "cl100k_base", "estimate"),
        ),
        Setting(
            "recall.stages", "lexical,vector,neighbour,speaker,time,recency,fold,floor",
            "what takes part in recall; leave a stage out, or put in `module:function` of your own",
        ),
        Setting("jobs.at_once", 2, "jobs that a process carries out at the same time; 0: none", int),
        Setting("backup.every", 0.0, "hours from one backup of the folder to the next; 0: only when asked", float),
        Setting("backup.keep", 7, "how many of these backups are kept", int),
        Setting("backup.folder", None, "where they are kept; by default `backups` in the folder"),
        Setting("server.host", "127.0.0.1", "the address that `serve` listens on"),
        Setting("server.port", 7077, "the port that `serve` listens on", int),
        Setting("server.api_key", None, "the operator's API key", environment=("REMEMBERD_API_KEY",), secret=True),
        Setting("server.hosts", None, "further names that the Host header may carry, separated by commas"),
        Setting("server.body_limit", 8_388_608, "bytes that the body of a request may have", int),
        Setting("log.level", "info", "how much is logged", choices=("debug", "info", "warning", "error")),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """Looked up by name: ``settings.text("server.host")``."""

    values: Mapping[str, Any] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)

    def text(self, name: str) -> str:
        return str(self.values[name])

    def maybe(self, name: str) -> str | None:
        value = self.values[name]
        return None if value is None else str(value)

    def integer(self, name: str) -> int:
        return int(self.values[name])

    def flag(self, name: str) -> bool:
        return bool(self.values[name])

    def number(self, name: str) -> float:
        return float(self.values[name])

    def described(self) -> tuple[SettingValue, ...]:
        """Every setting with its value, as people may see it, and its origin."""
        return tuple(
            SettingValue(name=name, value=self._shown(name), origin=self.origins[name]) for name in self.values
        )

    def _shown(self, name: str) -> str:
        value = self.values[name]
        if value is None:
            return "-"
        return "(set)" if TABLE[name].secret else str(value)


def load_settings(
    file: Path | str | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    dotenv: Path | None = Path(".env"),
    given: Mapping[str, Any] | None = None,
) -> Settings:
    """Defaults, then the file, then ``.env``, then the environment, then what was given in the call.

    Raises ``SettingsError`` for an unknown name or a value of the wrong kind.
    """
    environment = os.environ if environment is None else environment
    chosen = file or environment.get(_CONFIG)
    path = Path(chosen) if chosen else _DEFAULT_FILE
    if chosen and not path.is_file():
        raise SettingsError(f"there is no settings file {path}")
    written = _read_yaml(path) if path.is_file() else {}
    tenants = written.pop("tenants", None) or {}
    values: dict[str, Any] = {name: setting.default for name, setting in TABLE.items()}
    origins = dict.fromkeys(TABLE, "default")
    layers: list[tuple[str, Mapping[str, Any]]] = [
        (str(path), _flat(written, str(path))),
        (".env", _from_variables(_read_dotenv(dotenv), ".env")),
        ("environment", _from_variables(environment, "environment")),
        ("call", {name: value for name, value in (given or {}).items() if value is not None}),
    ]
    for origin, layer in layers:
        for name, value in layer.items():
            values[name] = _as_kind(_known(name, origin), value, origin)
            origins[name] = origin
    return Settings(values, origins, _policy(values, tenants, str(path)))


def _known(name: str, origin: str) -> Setting:
    if name not in TABLE:
        close = difflib.get_close_matches(name, TABLE, n=1)
        hint = f"; did you mean {close[0]}?" if close else f"; settings are {', '.join(TABLE)}"
        raise SettingsError(f"{origin}: {name} is not a setting{hint}")
    return TABLE[name]


def _as_kind(setting: Setting, value: Any, origin: str) -> Any:
    if value is None:
        return setting.default
    if setting.kind is bool:
        return _as_flag(setting, value, origin)
    try:
        made = setting.kind(value)
    except (TypeError, ValueError) as error:
        raise SettingsError(f"{origin}: {setting.name} must be {_named(setting.kind)}") from error
    if isinstance(value, bool) or (setting.choices and made not in setting.choices):
        wanted = f"one of {', '.join(setting.choices)}" if setting.choices else _named(setting.kind)
        raise SettingsError(f"{origin}: {setting.name} must be {wanted}")
    if setting.kind is not str and made < 0:
        raise SettingsError(f"{origin}: {setting.name} must not be negative")
    return made


def _as_flag(setting: Setting, value: Any, origin: str) -> bool:
    said = str(value).lower()
    if said not in ("true", "false", "1", "0"):
        raise SettingsError(f"{origin}: {setting.name} must be true or false")
    return said in ("true", "1")


def _named(kind: type) -> str:
    return {int: "a whole number", float: "a number", str: "text"}[kind]


def _policy(values: Mapping[str, Any], tenants: Any, origin: str) -> Policy:
    rule = WindowRule(values["window.size"], timedelta(seconds=values["window.ttl"]))
    if not isinstance(tenants, dict):
        raise SettingsError(f"{origin}: tenants must be a table of tenants")
    windows = {}
    for tenant, written in tenants.items():
        flat = _flat(written, origin) if isinstance(written, dict) else {"": None}
        unknown = set(flat) - {"window.size", "window.ttl"}
        if unknown:
            raise SettingsError(f"{origin}: tenants.{tenant} may set window.size and window.ttl only")
        own = {name: _as_kind(TABLE[name], value, origin) for name, value in flat.items()}
        ttl = timedelta(seconds=own["window.ttl"]) if "window.ttl" in own else rule.ttl
        windows[str(tenant)] = WindowRule(own.get("window.size", rule.size), ttl)
    return Policy(rule, windows, BackupRule(timedelta(hours=values["backup.every"]), values["backup.keep"]))


def _flat(tree: Mapping[str, Any], origin: str, prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            flat |= _flat(value, origin, f"{name}.")
        else:
            flat[name] = value
    return flat


def _from_variables(variables: Mapping[str, str], origin: str) -> dict[str, str]:
    known = {variable for setting in TABLE.values() for variable in setting.variables} | {_CONFIG, crash.VARIABLE}
    for variable in variables:
        if variable.startswith(_PREFIX) and variable not in known:
            close = difflib.get_close_matches(variable, known, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise SettingsError(f"{origin}: {variable} is not a setting{hint}")
    return {
        name: variables[variable]
        for name, setting in TABLE.items()
        for variable in reversed(setting.variables)
        if variables.get(variable)
    }


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        tree = msgspec.yaml.decode(path.read_bytes()) or {}
    except (msgspec.DecodeError, OSError, UnicodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
    if not isinstance(tree, dict):
        raise SettingsError(f"{path} must be a table of settings")
    return tree


def _read_dotenv(path: Path | None) -> dict[str, str]:
    if path is None or not path.is_file():
        return {}
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        name, separator, value = line.strip().removeprefix("export ").partition("=")
        if separator and not name.startswith("#"):
            found[name.strip()] = value.strip().strip("\"'")
    return found
