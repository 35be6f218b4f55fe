"""Names, titles and captions, each generated from its own random stream on demand.

What belongs here: the vocabulary (morphemes, phrases and hostile strings; no real artist, no real
song), and how words are combined. Which caption names which track is decided in `posting.py`.
"""

from functools import lru_cache

from numpy.random import Generator

from sandbox.world.random_streams import chance, stream

PLACES_ZH = (
    "渡口", "灯塔", "站台", "屋顶", "河堤", "旧码头", "玻璃花房", "第七街", "山谷", "南窗",
    "云层", "雪线", "盐湖", "天桥", "末班车", "温室", "礁石", "操场", "钟楼", "果园",
)  # fmt: skip
MOODS_ZH = (
    "雾色", "微醺", "橘色", "失眠", "潮湿", "逆光", "慢半拍", "半透明", "薄荷", "沉默",
    "发烫", "迟到", "漂浮", "透明", "冬眠", "倾斜", "无声", "滚烫", "褪色", "折叠",
)  # fmt: skip
THINGS_ZH = (
    "纸鲸", "风筝", "便利店", "海盐", "磁带", "萤火", "信号", "候鸟", "汽水", "雨衣",
    "月台票", "极光", "棉花", "航线", "苔藓", "电台", "陨石", "橡皮", "潜水艇", "蓝莓",
)  # fmt: skip
MOODS_EN = (
    "Paper", "Velvet", "Hollow", "Static", "Amber", "Slow", "Neon", "Quiet", "Copper", "Feral",
    "Lunar", "Brittle", "Salt", "Northern", "Second", "Borrowed", "Silver", "Drowsy", "Tidal",
    "Orchid",
)  # fmt: skip
THINGS_EN = (
    "Harbor", "Lantern", "Parade", "Orbit", "Tangerine", "Compass", "Glasshouse", "Railway",
    "Monsoon", "Polaroid", "Meadow", "Antenna", "Marble", "Driftwood", "Cascade", "Lighthouse",
    "Mirage", "Ribbon", "Thunder", "Atlas",
)  # fmt: skip
SYLLABLES = (
    "ba", "cha", "do", "fei", "gu", "ha", "ji", "ka", "lu", "mi", "na", "o", "pei", "qiu", "ru",
    "so", "tan", "vo", "wen", "xi", "ya", "zhe",
)  # fmt: skip
NICKS_ZH = (
    "小满不困", "阿柚同学", "南风慢递", "半颗糖", "橙子船长", "云边小卖部", "一只咕咕", "薄荷青提",
    "老张在路上", "雨天修伞", "野生企鹅", "慢慢的猫", "今晚打豆腐", "树洞电台", "海边的盐",
    "鹿与岛", "追光的土豆", "星期八", "碳酸饮料", "北纬三十度",
)  # fmt: skip
NICKS_EN = (
    "mocha", "tofu", "kiwi", "pixel", "juno", "miso", "nori", "ember", "ziggy", "olive", "pebble",
    "quokka", "sunny", "tango", "umber", "velo", "willow", "yuzu", "zephyr", "acorn",
)  # fmt: skip
EMOJI = ("🔥", "✨", "😭", "🎧", "🌊", "🫠", "💃", "🐳", "🍊", "🌙", "👀", "🎶")
PHRASES = (
    "今天的晚霞", "这个转场我练了三天", "谁懂啊家人们", "记录一下", "周末去爬山", "猫又拆家了",
    "做饭日记第12天", "在逃公主的下班路", "教程放评论区了", "第一次拍这个", "慢生活",
    "这段旋律循环一整天", "old town walk", "day 17 of practice", "POV: 下班后的我", "穿搭分享",
    "毕业快乐", "雨天窗边", "宿舍翻跳", "路过人间", "街头采访", "healing vlog", "奶奶的菜园",
)  # fmt: skip
TAGS = ("日常", "记录真实生活", "翻跳", "卡点", "vlog", "旅行", "美食", "萌宠", "穿搭", "校园")
HOSTILE = (
    "<script>alert('x')</script>",
    '"><img src=x onerror=alert(1)>',
    '=HYPERLINK("http://127.0.0.1/","go")',
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "مرحبا بالعالم שלום",
    "\u202eمقلوب\u202c text",
    "[bold red]markup[/bold red]",
    "{{7*7}} ${7*7} %s %(x)s",
    "a\u200bb\ufeffc \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "</script><!-- --> &amp; \\u002F 验证码",
    "../../etc/passwd; drop table works;--",
)
SOUND_OF = "@{name}创作的原声"
"""Title of a sound that a user uploaded: it names the user, never the song."""
RELEASES = (
    "{title} (DJ版)",
    "{title} (剪辑版)",
    "{title} (片段)",
    "{title} - Live",
    "{title}（完整版）",
)
CITIES = ("浙江", "四川", "广东", "辽宁", "云南", "福建", "湖北", "陕西")

_PAIRS = len(MOODS_ZH) * len(THINGS_ZH)  # so many titles before a pair comes again


def pick(rng: Generator, values: tuple[str, ...]) -> str:
    """One of the values."""
    return values[int(rng.integers(len(values)))]


@lru_cache(maxsize=65_536)  # a search reads the title behind every caption
def song_title(seed: int, score: int) -> str:
    """Return the title of a composition. About one in six has a form that breaks careless code."""
    rng = stream(seed, "title", score)
    pairs = stream(seed, "title pairs").permutation(_PAIRS)
    mood, thing = divmod(int(pairs[score % _PAIRS]), len(THINGS_ZH))
    zh = f"{MOODS_ZH[mood]}{THINGS_ZH[thing]}"
    en = f"{MOODS_EN[mood]} {THINGS_EN[thing]}"
    forms = (
        zh,
        f"{zh}的{pick(rng, PLACES_ZH)}",
        en,
        f"{zh}与{pick(rng, PLACES_ZH)}",
        f"{zh} ({en})",
        f"{en} in {pick(rng, PLACES_ZH)}",
    )
    plain = forms[int(rng.integers(len(forms)))]
    return _odd_title(rng, plain, score)


def _odd_title(rng: Generator, plain: str, score: int) -> str:
    odd = {
        5: f'{plain} <b>remix</b> & "Co"',
        11: f"{plain} 🌙✨",
        17: f"ليل {plain}",
        22: "，".join([plain, *(pick(rng, MOODS_ZH) + pick(rng, PLACES_ZH)
                               for _ in range(24))]),
    }  # fmt: skip
    return odd.get(score % 24, plain)


def artist_name(seed: int, score: int) -> str:
    """An invented artist, two of three with Chinese characters."""
    rng = stream(seed, "artist", score)
    latin = "".join(pick(rng, SYLLABLES) for _ in range(2)).title()
    forms = (
        f"{pick(rng, MOODS_ZH)}{pick(rng, PLACES_ZH)}乐队",
        f"{latin} {pick(rng, SYLLABLES).title()}son",
        f"{pick(rng, THINGS_ZH)}{latin}",
    )
    return forms[int(rng.integers(3))]


def nickname(seed: int, account: int) -> str:
    """Name of an account; one of thirty is hostile."""
    rng = stream(seed, "nickname", account)
    if chance(rng, 1 / 30):
        return pick(rng, HOSTILE)[:30]
    if chance(rng, 0.6):
        return f"{pick(rng, NICKS_ZH)}{int(rng.integers(1, 99)) if chance(rng, 0.5) else ''}"
    return f"{pick(rng, NICKS_EN)}_{pick(rng, SYLLABLES)}{int(rng.integers(10, 999))}"


def signature(seed: int, account: int) -> str:
    """What an account says about itself."""
    rng = stream(seed, "signature", account)
    return f"{pick(rng, PHRASES)}{pick(rng, EMOJI)}\n合作请私信 {pick(rng, TAGS)}"


def user_sound_title(seed: int, account: int) -> str:
    """Return the platform's title for a sound that an account uploaded."""
    return SOUND_OF.format(name=nickname(seed, account))


def lyric_line(rng: Generator) -> str:
    """One line of a song."""
    return f"{pick(rng, MOODS_ZH)}的{pick(rng, THINGS_ZH)} {pick(rng, PLACES_ZH)}"


def release_title(rng: Generator, title: str) -> str:
    """Title of a re-upload that still names the song."""
    return pick(rng, RELEASES).format(title=title)


def caption(seed: int, work: int, *, title: str | None, as_tag: bool) -> str:
    """Text of a video.

    Args:
        seed: Seed of the world.
        work: Index of the video.
        title: Song that the caption names, rightly or wrongly; None for no hint.
        as_tag: Name it as a hashtag instead of in the sentence.
    """
    rng = stream(seed, "caption", work)
    parts = [pick(rng, PHRASES)]
    if title is not None:
        parts.append(f"#{to_tag(title)}" if as_tag else f"《{title}》")
    if chance(rng, 0.5):
        parts.append(pick(rng, EMOJI) * int(rng.integers(1, 4)))
    if chance(rng, 0.03):
        parts.insert(0, pick(rng, HOSTILE))
    parts.extend(f"#{tag}" for tag in sorted({pick(rng, TAGS) for _ in range(2)}))
    return " ".join(parts)


def to_tag(title: str) -> str:
    """Return a title as users write it into a hashtag: without spaces and punctuation."""
    return "".join(letter for letter in title if letter.isalnum())[:40]
