"""The bench of recall runs on data in the published form, and its figures are those that can be counted by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from bench import quality

if TYPE_CHECKING:
    from pathlib import Path


def _conversation(
    name: str, speakers: tuple[str, str], said: list[str], question: str, evidence: str
) -> dict[str, Any]:
    turns = [{"dia_id": f"D1:{i}", "speaker": speakers[i % 2], "text": text} for i, text in enumerate(said)]
    return {
        "sample_id": name,
        "conversation": {"session_1": turns, "session_1_date_time": "1:56 pm on 8 May, 2023"},
        "qa": [{"question": question, "evidence": [evidence], "category": 4}],
    }


@pytest.mark.slow
@pytest.mark.usefixtures("fetched")
def test_the_bench_counts_what_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chat = [
        _conversation("one", ("Ann", "Bob"), ["hello", "my violin is broken"], "What of Bob's is broken?", "D1:1"),
        _conversation("two", ("Cid", "Dee"), ["I moved to Oslo", "lovely"], "Where did Cid move?", "D1:0"),
    ]
    (tmp_path / "locomo.json").write_text(json.dumps(chat), encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["quality", "--data", str(tmp_path), "--only", "locomo,memdaily"])
    quality.main()
    printed = capsys.readouterr().out
    assert "| **all** | 2 | 100.0 | 100.0 | 100.0 | 100.0 |" in printed
    assert "| evidence in the context, mean over questions, % | 100.0 |" in printed
    assert "2 questions of other conversations" in printed
    assert "| without neighbour | 100.0 |" in printed
    assert "memdaily-zh is not there" in printed
    assert (tmp_path / "rememberd-embeddings.db").stat().st_size > 0
