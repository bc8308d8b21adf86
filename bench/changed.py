"""What changed: the same matter told twice, half a year apart, and a question for how it is now.

What it shows is whether the later of two messages that answer equally well comes first, with and without the stage
`recency`. The wording of the two differs only in what changed, and which of the two wordings is the later one is tried
both ways, so words and meaning decide nothing on the whole.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from rememberd import NewMessage, Scope
from rememberd.settings import TABLE

from .house import House
from .tables import mean, table

CHANGED = (
    ("I live in Leeds.", "I live in Bristol.", "Where do I live?"),
    ("I work at the post office.", "I work at the town library.", "Where do I work?"),
    ("My phone number ends in 4471.", "My phone number ends in 9038.", "What does my phone number end in?"),
    ("I drive a red Toyota.", "I drive a grey Volvo.", "Which car do I drive?"),
    ("My favourite tea is Earl Grey.", "My favourite tea is Darjeeling.", "What is my favourite tea?"),
    ("The team meets on Tuesdays.", "The team meets on Thursdays.", "When does the team meet?"),
    ("I weigh 82 kilos.", "I weigh 76 kilos.", "How much do I weigh?"),
    ("My doctor is Dr Hale.", "My doctor is Dr Osei.", "Who is my doctor?"),
    ("We deploy to Frankfurt.", "We deploy to Dublin.", "Where do we deploy?"),
    ("I am reading Middlemarch.", "I am reading Moby-Dick.", "What am I reading?"),
    ("我住在杭州。", "我住在成都。", "我住在哪里？"),
    ("我在邮局上班。", "我在图书馆上班。", "我在哪里上班？"),
    ("我的手机尾号是4471。", "我的手机尾号是9038。", "我的手机尾号是多少？"),
    ("我开红色的丰田。", "我开灰色的大众。", "我开什么车？"),
    ("我最爱喝龙井。", "我最爱喝普洱。", "我最爱喝什么茶？"),
    ("组会定在周二。", "组会定在周四。", "组会定在哪天？"),
    ("我体重八十二公斤。", "我体重七十六公斤。", "我体重多少？"),
    ("我的医生姓何。", "我的医生姓欧阳。", "我的医生姓什么？"),
    ("我们的服务器在法兰克福。", "我们的服务器在都柏林。", "我们的服务器在哪里？"),
    ("我正在读《红楼梦》。", "我正在读《三国演义》。", "我正在读什么书？"),
)
_THEN = datetime(2024, 1, 8, 9, tzinfo=UTC)
_LATER = timedelta(days=180)


def report() -> None:
    every = str(TABLE["recall.stages"].default).split(",")
    with House() as house:
        for number, (one, other, _) in enumerate(CHANGED):
            for way, (old, new) in enumerate(((one, other), (other, one))):
                for at, text in ((_THEN, old), (_THEN + _LATER, new)):
                    thread = Scope(user=f"{number}-{way}", thread=f"{number}-{way}-{at.date()}")
                    house.run(house.memory.ingest(thread, [NewMessage(role="user", content=text, at=at)]))
        house.settle()
        rows = []
        for name, stages in {"all": every, "without recency": [each for each in every if each != "recency"]}.items():
            house.reopen(",".join(stages))
            rows.append([name, mean([float(first) for first in _later_first(house)])])
    title = f"What changed: {2 * len(CHANGED)} questions, asked a day after the change"
    table(title, ["stages", "later first %"], rows)


def _later_first(house: House) -> list[bool]:
    return [
        house.ask(f"{number}-{way}", question, now=_THEN + _LATER + timedelta(days=1)).raw[0].at > _THEN
        for number, (_, _, question) in enumerate(CHANGED)
        for way in (0, 1)
    ]
