"""The vectors of the embedded index: 8 bits a dimension, and still the nearest are found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from rememberd.backends.folder import lane as leg
from rememberd.backends.folder.lane import Lane, packed, spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

NUMBER = 6000


def vectors(dimension: int) -> Floats:
    """As models make them: unit vectors, one dimension of which dwarfs the rest."""
    made = np.random.default_rng(7).standard_normal((NUMBER, dimension)).astype(np.float32)
    made[:, 3] += np.float32(0.6 * np.sqrt(dimension))
    unit: Floats = made / np.linalg.norm(made, axis=1, keepdims=True)
    return unit


def lane_of(made: Floats) -> Lane:
    lane = Lane(made.shape[1])
    lane.add(np.arange(len(made)), packed(made))
    return lane


def test_a_large_dimension_does_not_take_the_bits_of_the_others() -> None:
    made = vectors(384)
    few = made[: leg.EXACT]
    off = lane_of(few).nearest(spread(few[0]), np.arange(len(few)))[1] - few @ few[0]
    assert np.sqrt(np.mean(off**2)) < 0.0006


@pytest.mark.parametrize("dimension", [100, 384])
def test_the_nearest_is_found_where_not_all_are_compared(dimension: int) -> None:
    made = vectors(dimension)
    lane = lane_of(made)
    between = made[:20] + made[20:40] / 2
    for vector in between / np.linalg.norm(between, axis=1, keepdims=True):
        rows, cosines = lane.nearest(spread(vector), np.arange(NUMBER))
        assert len(rows) == leg.RESCORED < leg.EXACT < NUMBER
        assert rows[np.argmax(cosines)] == np.argmax(made @ vector)


def test_of_many_texts_in_parts_the_nearest_part_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    made = vectors(384)
    lane = Lane(384)
    lane.add(np.repeat(np.arange(NUMBER // 2), 2), packed(made))
    monkeypatch.setattr(leg, "EXACT", 100)
    between = made[1] + made[3] / 2
    vector = between / np.linalg.norm(between)
    rows, cosines = lane.nearest(spread(vector), np.arange(NUMBER // 2))
    best = (made @ vector).reshape(-1, 2).max(axis=1)
    assert len(rows) == len(set(rows.tolist())) < NUMBER // 2
    assert rows[np.argmax(cosines)] == np.argmax(best)
    assert np.abs(cosines - best[rows]).max() < 0.01


def test_what_is_dropped_is_not_compared_and_does_not_count() -> None:
    made = vectors(64)[:50]
    lane = lane_of(made)
    lane.drop(np.arange(10, 20))
    rows, cosines = lane.nearest(spread(made[0]), np.arange(60))
    kept = np.r_[0:10, 20:50]
    assert rows.tolist() == kept.tolist()
    assert lane.mean(spread(made[0]), np.arange(60)) == pytest.approx(float((made[kept] @ made[0]).mean()), abs=0.01)
    assert lane.mean(spread(made[0]), np.arange(5)) == pytest.approx(float(cosines[:5].mean()), abs=1e-5)
