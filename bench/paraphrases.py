"""Meaning without shared words: what was remembered, and a question for it in other words.

Three sets in each language. *Reworded*: the question asks for what the memory says, with other words for the same
things. *Inferred*: the answer follows from the memory, but nobody would call it a paraphrase ("Am I single?"), and some
of the other memories are about the same matter. *Held out*: as reworded, by a stricter rule, to check what was built
with the others in view. The distractors of each question are all other memories of its set.

Written in one go. Four matters of the reworded set were written anew, by one rule for both languages: another memory
answered the question as well, or contradicted the answer, or the memory did not say what was asked. An item that recall
misses stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rememberd import Scope

from .held_out import HELD_OUT_CHINESE, HELD_OUT_ENGLISH
from .house import House
from .tables import mean, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rememberd import Hit

INFERRED_ENGLISH = (
    ("Shellfish makes me break out in hives.", "Which foods am I allergic to?"),
    ("We signed the papers for the new flat on Friday.", "Did I buy an apartment?"),
    ("My little brother is studying to become a vet.", "What career has my sibling chosen?"),
    ("I always fly with an aisle seat.", "Where do I like to sit on a plane?"),
    ("The old Volvo finally gave up, it won't start anymore.", "What is wrong with my car?"),
    ("I cycle to the office whatever the weather.", "How do I commute?"),
    ("Our anniversary falls on the third of June.", "When did we get married?"),
    ("I take my coffee black.", "Do I want milk in my drink?"),
    ("My grandfather emigrated from Greece in the fifties.", "What are my family's roots?"),
    ("I deleted Instagram for good.", "Am I still on social media?"),
    ("The dentist says two of my teeth need fillings.", "Do I have cavities?"),
    ("I'm terrified of spiders.", "Which creatures frighten me?"),
    ("We're expecting twins in January.", "How many babies is my wife going to have?"),
    ("I sing alto in the parish choir.", "What musical hobby do I have?"),
    ("My salary comes in on the 25th.", "On which day do I get paid?"),
    ("I left my umbrella on the tram.", "What did I forget on public transport?"),
    ("Please never phone me before ten.", "What is the best time to call me in the morning?"),
    ("I'm colour-blind, red and green look alike to me.", "Do I have any trouble with my eyesight?"),
    ("The cat threw up on the carpet again.", "Is my pet sick?"),
    ("I gave up on Windows and use Ubuntu now.", "Which operating system does my laptop have?"),
    ("Our son starts kindergarten after the summer.", "How old is my child, roughly?"),
    ("I sprained my ankle playing badminton.", "What sports injury did I have?"),
    ("I spent a semester in Kyoto as a student.", "Have I ever lived in Japan?"),
    ("My boss wants the report on her desk by Thursday noon.", "What deadline do I have at work?"),
    ("I haven't touched alcohol for three years.", "Should I be offered wine?"),
    ("The neighbours' dog barks all night long.", "Why do I sleep badly?"),
    ("I collect first editions of science fiction novels.", "What would be a good gift for a bookworm like me?"),
    ("We always spend Christmas at my parents-in-law's farm.", "Where do I celebrate the holidays?"),
    ("My passport runs out in March.", "Which travel document must be renewed soon?"),
    ("I can't digest milk or cheese.", "Am I lactose intolerant?"),
    ("I was promoted to head of sales last week.", "What is my current position?"),
    ("Somebody broke into our garage and took the bikes.", "What was stolen from me?"),
    ("I'm training for the Berlin marathon.", "Which race am I preparing for?"),
    ("Write to me in French if you can.", "What language do I prefer?"),
    ("The roof has been dripping since the storm.", "What needs repairing in the house?"),
    ("I inherited a piano from my aunt.", "Which instrument stands in my living room?"),
    ("I do the night shift at the bakery.", "What are my working hours?"),
    ("My password manager is Bitwarden.", "How do I keep my logins safe?"),
    ("I put two hundred a month into an index fund.", "How do I invest my money?"),
    ("We split up after seven years together.", "Am I single?"),
    ("I get seasick on any boat.", "Would a cruise be a good idea for me?"),
    ("My thesis is about bees.", "What is the subject of my research?"),
    ("I need glasses with minus four lenses.", "How short-sighted am I?"),
    ("We're renting a cottage in Wales in August.", "What are my plans for the summer vacation?"),
)

INFERRED_CHINESE = (
    ("一吃虾我身上就起疹子。", "点菜的时候要避开哪些海鲜？"),
    ("周五我们把新房的合同签了。", "我是不是买了住宅？"),
    ("我弟弟在学兽医。", "家里谁将来给动物看病？"),
    ("坐飞机我总选靠过道的位置。", "订机票时该帮我留哪个座席？"),
    ("那辆老捷达彻底打不着火了。", "我的汽车出了什么毛病？"),
    ("不管刮风下雨我都骑车去公司。", "我每天怎么通勤？"),
    ("六月三号是我们的结婚纪念日。", "我和妻子哪天成的家？"),
    ("咖啡我只喝黑的。", "饮料里要不要加牛奶？"),
    ("爷爷五十年代从山东闯关东过来的。", "我祖籍在什么地方？"),
    ("微博我已经卸载，再也不刷了。", "我还玩社交媒体吗？"),
    ("牙医说我有两颗牙要补。", "我有没有龋齿？"),
    ("我最怕蜘蛛。", "什么虫子会把我吓到？"),
    ("明年一月我们家要添一对双胞胎。", "我太太怀了几个宝宝？"),
    ("我在合唱团唱女低音。", "我有什么音乐方面的爱好？"),
    ("每月二十五号发工资。", "我的薪水哪天到账？"),
    ("我把雨伞落在地铁上了。", "我丢了什么东西？"),
    ("早上十点以前别给我打电话。", "什么时间联系我比较合适？"),
    ("我是色盲，红绿分不清。", "我的视力有什么缺陷？"),
    ("家里的猫又吐在地毯上了。", "我的宠物是不是生病了？"),
    ("我不用Windows了，现在装的是Ubuntu。", "我的电脑是什么操作系统？"),
    ("过完暑假儿子就上幼儿园。", "我的孩子大概几岁？"),
    ("打羽毛球把脚踝扭了。", "我运动时受过哪种伤？"),
    ("读书的时候我在京都待过半年。", "我有没有在日本生活的经历？"),
    ("老板要我周四中午前交报告。", "我工作上的截止日期是什么时候？"),
    ("我三年滴酒不沾了。", "聚餐时能劝我喝白酒吗？"),
    ("隔壁的狗叫了一整夜。", "我为什么没睡好？"),
    ("我收集科幻小说的初版。", "送我什么礼物会让我高兴？"),
    ("每年春节我们都去岳父家过。", "我在哪里过年？"),
    ("我的护照三月份到期。", "出国前要先换哪个证件？"),
    ("喝牛奶我会拉肚子。", "我是不是乳糖不耐受？"),
    ("上周我升了销售总监。", "我现在的职位是什么？"),
    ("小偷撬了车库，把自行车偷走了。", "我被盗了什么财物？"),
    ("我正在备战柏林马拉松。", "我在为哪场长跑比赛训练？"),
    ("能用法语就尽量用法语回我。", "我希望用哪种语言交流？"),
    ("台风过后屋顶一直漏水。", "房子哪里需要修理？"),
    ("姑妈留给我一架钢琴。", "我家客厅摆着什么乐器？"),
    ("我在面包房上夜班。", "我几点钟干活？"),
    ("我的密码都存在Bitwarden里。", "我怎么保管各个账号的登录信息？"),
    ("我每个月定投两千块指数基金。", "我如何理财？"),
    ("在一起七年，我们还是分开了。", "我现在单身吗？"),
    ("一上船我就晕得厉害。", "适不适合带我去坐邮轮？"),
    ("我的毕业论文写的是蜜蜂。", "我的研究课题是什么？"),
    ("我近视四百度。", "配眼镜需要多深的镜片？"),
    ("八月份我们在青岛租了个海边小屋。", "我夏天打算去哪儿度假？"),
)

REWORDED_ENGLISH = (
    ("My physician put me on tablets for high blood pressure.", "What medication did the doctor prescribe?"),
    ("We named our newborn Matilda.", "What is the baby called?"),
    ("I work as a plumber.", "What is my occupation?"),
    ("My favourite dish is mushroom risotto.", "Which meal do I like best?"),
    ("I reside in a small town near Lyon.", "Where do I live?"),
    ("Our flat is on the fourth floor.", "Which storey is the apartment on?"),
    ("I was born in Ottawa.", "What is my birthplace?"),
    ("My spouse teaches mathematics.", "What does my wife do for a living?"),
    ("I purchased a secondhand camera yesterday.", "What did I buy?"),
    ("My kitten is named Pepper.", "What is my cat's name?"),
    ("I am fluent in Portuguese.", "Which foreign languages do I speak?"),
    ("The physiotherapist is treating my sore shoulder.", "Which part of my body hurts?"),
    ("I go for a run along the canal every dawn.", "Where do I jog in the mornings?"),
    ("My lawyer charges ninety euros an hour.", "How much does the attorney cost?"),
    ("I adore thunderstorms.", "What kind of weather do I love?"),
    ("We intend to relocate to Canada next year.", "Which country are we planning to move to?"),
    ("My teenager has taken up the drums.", "Which instrument is my son learning?"),
    ("I detest olives.", "What food do I hate?"),
    ("The gathering begins at half past six.", "When does the meeting start?"),
    ("My mum's garden is full of roses.", "Which flowers does my mother grow?"),
    ("I repaired the bicycle's brakes myself.", "What did I fix on my bike?"),
    ("My firm makes wind turbines.", "What does the company I work for produce?"),
    ("I was ill with pneumonia in spring.", "Which disease did I have?"),
    ("I can't stand heavy metal.", "What music do I dislike?"),
    ("My closest friend is Oliver.", "Who is my best buddy?"),
    ("I received a scholarship of five thousand pounds.", "How much money was I awarded for my studies?"),
    ("The automobile's colour is silver.", "What does my car look like?"),
    ("My holiday in Crete was wonderful.", "Where did I go on vacation?"),
    ("My brother earns his living by translating novels.", "What is my sibling's profession?"),
    ("Our wedding took place in a lighthouse.", "Where did we get married?"),
    ("I own three laptops.", "How many computers do I have?"),
    ("My dad passed away in 2019.", "When did my father die?"),
    ("I wish to be addressed as Doctor Reyes.", "How would I like to be called?"),
    ("The parcel ought to turn up on Tuesday.", "When will the package arrive?"),
    ("The pool I go to is called Blue Lagoon.", "Where do I swim?"),
    ("I am a vegetarian.", "Do I eat meat?"),
    ("I misplaced my house keys at the cinema.", "What did I lose at the movies?"),
    ("My supervisor is Mrs Kowalski.", "Who is my boss?"),
    ("I pay eight hundred a month for my room.", "How high is my rent?"),
    ("I hope to become a pilot one day.", "What is my dream job?"),
    ("My cousin resides in Nairobi.", "In which city does my relative live?"),
    ("I consume two litres of water daily.", "How much do I drink per day?"),
    ("The motorway was blocked because of an accident.", "Why was there a traffic jam?"),
    ("My internet provider is Telia.", "Which company supplies my broadband?"),
)

REWORDED_CHINESE = (
    ("大夫给我开了降压药。", "医生让我吃哪种药物？"),
    ("我们给刚出生的女儿取名叫朵朵。", "宝宝的名字是什么？"),
    ("我是一名水管工。", "我的职业是什么？"),
    ("我最爱吃番茄炒蛋。", "我喜欢的菜是哪一道？"),
    ("我家在苏州边上的一个小镇。", "我住在哪儿？"),
    ("咱们的公寓在四层。", "房子位于几楼？"),
    ("我出生在哈尔滨。", "我的故乡是哪座城市？"),
    ("我爱人是教数学的。", "妻子从事什么工作？"),
    ("昨天我入手了一台二手相机。", "我买了什么东西？"),
    ("家里的小猫叫胡椒。", "我的宠物叫什么名字？"),
    ("我葡萄牙语讲得很流利。", "我会说哪门外语？"),
    ("理疗师在治我肩膀的酸痛。", "我身体哪个部位不舒服？"),
    ("天一亮我就沿着运河跑步。", "我早晨在什么地方锻炼？"),
    ("我的律师一小时收九百块。", "打官司请人要花多少钱？"),
    ("我特别喜欢打雷下雨。", "我爱什么样的天气？"),
    ("明年我们打算移民加拿大。", "我计划搬到哪个国家？"),
    ("我家老大迷上了架子鼓。", "儿子在练什么乐器？"),
    ("我讨厌吃香菜。", "哪种食物我不喜欢？"),
    ("聚会六点半开始。", "活动几点钟举行？"),
    ("妈妈的院子里种满了玫瑰。", "母亲养了什么花？"),
    ("我自己把单车的刹车修好了。", "自行车的哪个零件坏过？"),
    ("我们公司是造风力发电机的。", "我所在的企业生产什么产品？"),
    ("春天的时候我得了肺炎。", "我生过什么病？"),
    ("重金属我听不下去。", "我讨厌哪类音乐？"),
    ("我最铁的哥们是大刘。", "谁是我的好朋友？"),
    ("我拿到了五千块奖学金。", "学校发给我多少钱？"),
    ("我的轿车是银色的。", "我那辆汽车是什么颜色？"),
    ("上次去三亚旅游特别开心。", "我到哪里度过假？"),
    ("我哥哥靠翻译小说谋生。", "兄长从事哪一行？"),
    ("我们的婚礼是在灯塔里办的。", "我在什么地点结的婚？"),
    ("我有三台笔记本。", "我一共有几部电脑？"),
    ("我爸2019年走了。", "父亲是哪年去世的？"),
    ("请叫我雷博士。", "我希望别人怎么称呼我？"),
    ("快递应该星期二送到。", "包裹什么时候能收到？"),
    ("我常去的泳池叫碧湾。", "我在哪儿游水？"),
    ("我吃素。", "我能不能吃肉？"),
    ("看电影的时候我把钥匙弄丢了。", "我在影院遗失了什么？"),
    ("我的主管是柯女士。", "谁是我的上司？"),
    ("我每个月房租三千。", "我租房要付多少钱？"),
    ("我希望有一天能当飞行员。", "我的梦想是做什么职业？"),
    ("表妹住在昆明。", "我的亲戚在哪座城市生活？"),
    ("我每天喝两升水。", "我一日饮用多少液体？"),
    ("高速因为车祸封了。", "为什么堵车？"),
    ("我家宽带是联通的。", "我用的是哪家运营商的网络？"),
)

SETS: Mapping[str, Sequence[tuple[str, str]]] = {
    "English, reworded": REWORDED_ENGLISH,
    "Chinese, reworded": REWORDED_CHINESE,
    "English, inferred": INFERRED_ENGLISH,
    "Chinese, inferred": INFERRED_CHINESE,
    "English, held out": HELD_OUT_ENGLISH,
    "Chinese, held out": HELD_OUT_CHINESE,
}


def answers(house: House, name: str) -> Iterator[tuple[str, str, list[Hit]]]:
    """Each memory, the question for it, and what is recalled, with default settings."""
    memories = SETS[name]
    person = house.memory.of(Scope(user=name))
    for text, _ in memories:
        house.run(person.add(text))
    house.settle()
    for text, question in memories:
        yield text, question, list(house.ask(name, question).raw)


def report() -> None:
    """Prints the table, and what was missed."""
    rows, missed = [], []
    with House() as house:
        for name, memories in SETS.items():
            places = []
            for text, question, hits in answers(house, name):
                texts = [hit.text for hit in hits]
                places.append(texts.index(text) if text in texts else len(memories))
                if places[-1]:
                    missed.append((question, texts[0] if texts else "silence"))
            rows.append([name, len(memories), *(mean([float(p < n) for p in places]) for n in (1, 3, 10))])
    table("Meaning without shared words", ["set", "n", "top 1 %", "top 3 %", "top 10 %"], rows)
    table("Missed", ["question", "first hit"], missed)
