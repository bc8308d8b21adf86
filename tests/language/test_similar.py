"""Whether two texts say the same: a table of pairs, judged by people."""

from __future__ import annotations

import itertools

import pytest

from rememberd.language.similar import Shape, adds_nothing, likeness

THE_SAME = [
    ("Lin likes light foundations.", "Lin likes light foundations"),
    ("Lin likes light foundations", "lin likes LIGHT foundations!"),
    ("I have moved to Hangzhou with my two cats", "I moved to Hangzhou with my two cats."),
    ("The meeting is on Tuesday at 3 pm in the big room", "the meeting is on Tuesday, at 3 pm, in the big room"),
    ("我皮肤敏感，想找轻薄的粉底", "我皮肤敏感，想找轻薄的粉底。"),
    ("我皮膚敏感，想找輕薄的粉底", "我皮肤敏感,想找轻薄的粉底"),
    ("林女士喜欢轻薄的粉底液", "林女士喜欢轻薄的粉底液！"),
    ("用户偏好：每周三晚上跑步，之后喝一杯热牛奶", "用户偏好：每周三晚上跑步，之后喝一杯热牛奶～"),
    ("ＡＢＣ公司在杭州", "ABC公司在杭州"),
    (
        "Please call me back tomorrow morning about the red umbrella",
        "please call me back tomorrow morning about the red umbrella :)",
    ),
]
NOT_THE_SAME = [
    ("Lin likes light foundations", "Lin likes full foundations"),
    ("Lin likes light foundations", "Lin does not like light foundations"),
    ("I don't eat fish on Fridays in Lent", "I do eat fish on Fridays in Lent"),
    ("The meeting is on Tuesday at 3 pm in the big room", "The meeting is on Tuesday at 4 pm in the big room"),
    ("The meeting is on Tuesday at 3 pm", "The meeting is on Thursday at 3 pm"),
    ("cup 12 of the long list of cups of tea", "cup 13 of the long list of cups of tea"),
    ("我喜欢吃辣", "我不喜欢吃辣"),
    ("我每天跑三公里，然后去公司上班", "我每天跑五公里，然后去公司上班"),
    ("我住在杭州", "我住在苏州"),
    ("她妈妈的生日是五月三日", "她爸爸的生日是五月三日"),
    ("他没来过上海", "他来过上海"),
    ("the parcel came", "the letter came"),
    ("yes", "no"),
    ("好的", "不好"),
    ("I live in Berlin", "My sister lives in Berlin"),
    ("", ""),
    ("!!!", "???"),
]


@pytest.mark.parametrize(("first", "second"), THE_SAME)
def test_the_same_said_twice_is_recognised(first: str, second: str) -> None:
    assert adds_nothing(Shape(first), Shape(second))
    assert adds_nothing(Shape(second), Shape(first))


@pytest.mark.parametrize(("first", "second"), NOT_THE_SAME)
def test_what_differs_in_one_telling_word_is_not_the_same(first: str, second: str) -> None:
    assert not adds_nothing(Shape(first), Shape(second))
    assert not adds_nothing(Shape(second), Shape(first))


@pytest.mark.parametrize(
    ("text", "to"),
    [
        (
            "Lin takes the early train to Suzhou every working day and reads",
            "Lin always takes the early train to Suzhou every working day and reads",
        ),
        ("用户每天早上坐早班火车去苏州上班，路上看书", "用户每天早上都坐早班火车去苏州上班，路上看书"),
    ],
)
def test_a_text_that_only_leaves_a_word_out_adds_nothing_and_the_longer_one_does(text: str, to: str) -> None:
    assert adds_nothing(Shape(text), Shape(to))
    assert not adds_nothing(Shape(to), Shape(text))


def test_a_long_text_that_differs_in_one_word_is_another_text() -> None:
    text = "On the long flight over the sea, with a stop in {}, we read both books, slept well and ate rather little"
    assert likeness(Shape(text.format("Berlin")), Shape(text.format("Munich"))) > 0.7
    assert not adds_nothing(Shape(text.format("Berlin")), Shape(text.format("Munich")))


def test_no_two_of_different_things_are_the_same() -> None:
    texts = [first for first, _ in THE_SAME + NOT_THE_SAME]
    for one, other in itertools.combinations(dict.fromkeys(texts), 2):
        if (one, other) not in THE_SAME and "皮肤" not in one + other and "foundations" not in one + other:
            assert not adds_nothing(Shape(one), Shape(other)), (one, other)


def test_likeness_is_symmetric_and_between_nothing_and_all() -> None:
    for first, second in THE_SAME + NOT_THE_SAME:
        there, back = likeness(Shape(first), Shape(second)), likeness(Shape(second), Shape(first))
        assert there == back
        assert 0 <= there <= 1
    assert likeness(Shape("a red umbrella"), Shape("A red umbrella")) == 1
    assert likeness(Shape("red"), Shape("蓝色")) == 0
