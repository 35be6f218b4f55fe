// Terms of the project, explained where they stand. English, then Chinese.
import { addMessages } from "../i18n.js";

addMessages({
  "term.ask": ["What is this? {name}", "名词解释：{name}"],
  "term.candidate": [
    "A video that may carry the recording: its sound, title, author or hashtag points to it. A scan compares the " +
      "sounds of its candidates, up to the limit that you set.",
    "可能使用该录音的作品，由原声、标题、作者或话题找到。扫描会比对候选作品的原声，数量以所设上限为准。",
  ],
  "term.confirmed": [
    "The same recording at its original speed and pitch: the video uses the music id of the track, or its sound " +
      "matched the recording.",
    "原速原调的同一录音：作品使用该音乐 ID，或其原声经比对与该录音一致。",
  ],
  "term.coverage": [
    "What a scan has read, why it stopped reading, and how much it may have missed. It speaks of what a guest " +
      "can see, never of the whole platform.",
    "扫描读取了什么、为何停止、可能遗漏多少。仅指访客可见的内容，并非平台全量。",
  ],
  "term.estimate": [
    "An estimate of how many a guest could find, computed from how often the sources show the same ones again. " +
      "The interval is meant to hold the true number in 95 of 100 cases.",
    "根据各来源重复出现的情况，估算访客可找到的总数。95% 区间指 100 次中约有 95 次包含真实值。",
  ],
  "term.not_comparable": [
    "The sound is missing, silent or too short. Whether it is the same recording is unknown.",
    "原声缺失、静音或过短，无法判断是否为同一录音。",
  ],
  "term.rejected": [
    "Compared, and not the same recording as far as the search goes: its evidence says which speeds and pitches " +
      "were tried.",
    "经比对，在搜索范围内不是同一录音；依据中列出了尝试过的速度与音高。",
  ],
  "term.variant": [
    "The same recording, sped up, slowed down or pitched, or only a few seconds of it. Variants have a list of " +
      "their own and do not count as confirmed.",
    "同一录音的加速、减速或变调版本，或仅含其短片段；单独列出，不计入已确认。",
  ],
});
