"""The doctor: each setting with its origin, each symptom with its cure, even when nothing opens."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

    from .conftest import Shell


def test_a_healthy_store(shell: Shell) -> None:
    diagnosis = shell.ask("doctor")
    assert diagnosis["healthy"]
    assert {found["check"]: found["state"] for found in diagnosis["findings"]}["storage"] == "ok"


def test_settings_say_where_they_come_from(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMEMBERD_WINDOW_SIZE", "7")
    monkeypatch.setenv("REMEMBERD_API_KEY", "hidden-from-view")
    chosen = shell.write("mine.yaml", "window: {ttl: 60}")
    told = shell("doctor", "--config", chosen, "--data", "here", "--json")
    settings = {setting["name"]: (setting["value"], setting["origin"]) for setting in told.document["settings"]}
    assert settings["window.size"] == ("7", "environment")
    assert settings["window.ttl"] == ("60.0", chosen)
    assert settings["data.folder"] == ("here", "call")
    assert settings["log.level"] == ("info", "default")
    assert "hidden-from-view" not in told.out


def test_a_folder_that_cannot_be_opened(shell: Shell) -> None:
    in_the_way = shell.write("in-the-way", "not a folder")
    ended = shell("doctor", "--data", in_the_way)
    assert ended.code == 1
    assert "broken" in ended.out
    assert "data.folder" in ended.out
    [finding] = json.loads(shell("doctor", "--data", in_the_way, "--json").out)["findings"]
    assert in_the_way in finding["detail"]
    assert "choose another place" in finding["cure"]


def test_a_setting_that_cannot_be_read(shell: Shell) -> None:
    ended = shell("doctor", "--config", shell.write("bad.yaml", "window: {sise: 3}"))
    assert ended.code == 1
    assert "did you mean window.size?" in ended.out


def test_a_server_that_does_not_answer(shell: Shell) -> None:
    ended = shell("doctor", "--url", "http://127.0.0.1:9")
    assert ended.code == 1
    assert "rememberd serve" in ended.out
