// Comparison of tracks. English, then Chinese.
import { addMessages } from "../i18n.js";

addMessages({
  "compare.accounts": ["Accounts", "账号数"],
  "compare.accounts_of_several": ["Accounts that use several of the tracks", "使用其中多首音乐的账号"],
  "compare.choose": ["Choose tracks ({chosen} of at most {most})", "选择音乐（{chosen} / {most}）"],
  "compare.confirmed": ["Confirmed videos", "已确认作品"],
  "compare.copy_link": ["Copy link to this comparison", "复制对比链接"],
  "compare.estimate": ["Sounds, estimated", "音乐数（估计）"],
  "compare.figures": ["Side by side", "关键数据对比"],
  "compare.first": ["First published", "最早发布"],
  "compare.growth": ["Likes gained by the same videos", "相同作品新增点赞"],
  "compare.hot_score": ["Hot score in total", "热度合计"],
  "compare.interval": ["{point} ({low} to {high})", "{point}（{low} 至 {high}）"],
  "compare.last": ["Last scan", "最近扫描"],
  "compare.lead": ["Two to six scanned tracks side by side.", "并列对比 2 至 6 首已扫描的音乐。"],
  "compare.likes": ["Likes in total", "点赞合计"],
  "compare.median_likes": ["Likes of the median video", "点赞中位数"],
  "compare.music_ids": ["Sounds", "音乐数"],
  "compare.note": [
    "All scans of each track together. A larger number means that more was found, not necessarily that there is " +
      "more.",
    "汇总每首音乐的全部扫描。数字较大表示找到的较多，不一定表示实际较多。",
  ],
  "compare.published": ["Confirmed videos by publication", "已确认作品的发布进程"],
  "compare.published_note": [
    "Videos published until the end of each week, as far as scans have found them.",
    "截至每周末已发布的作品数，仅含扫描找到的作品。",
  ],
  "compare.scans": ["Scans", "扫描次数"],
  "compare.shared": ["Shared accounts", "共同账号"],
  "compare.shared_note": [
    "Accounts with confirmed videos of both tracks; in grey, all accounts of a track.",
    "同时在两首音乐中有已确认作品的账号数；灰色为单首音乐的全部账号数。",
  ],
  "compare.title": ["Compare tracks", "音乐对比"],
  "compare.too_few": ["Fewer than two tracks were scanned", "已扫描的音乐不足 2 首"],
  "compare.too_few_hint": ["Scan another track, then compare it here.", "再扫描一首音乐，即可在此对比。"],
  "compare.track": ["Track", "音乐"],
  "compare.tracks": ["Tracks", "音乐"],
  "compare.uncounted": ["Videos without all counts, not in the hot score", "计数不全、未计入热度的作品"],
  "compare.unknown": ["Not scanned here, so not compared: {ids}", "未在此扫描，无法对比：{ids}"],
  "compare.variants": ["Variants", "变体"],
  "compare.videos": ["{number|video|videos}", "{number} 个作品"],
  "compare.videos_of": ["Videos of these", "相关作品数"],
});
