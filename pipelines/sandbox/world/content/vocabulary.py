"""Vocabulary: morphemes, phrases and hostile strings. No real artist, no real song.

Data only. Texts are built in `texts.py`.
"""

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
