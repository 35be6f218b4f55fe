// Evidence of a comparison: measures, the evidence plot and the audio player. English, then Chinese.
import { addMessages } from "../i18n.js";

addMessages({
  "comparisons.all_pairs": ["every pair ({number})", "显示全部比对（{number}）"],
  "comparisons.chroma_distance": ["Melody difference", "旋律差异"],
  "comparisons.empty": ["No audio comparisons", "没有音频比对"],
  "comparisons.empty_hint": [
    "Either every video uses this very sound, or the comparison was switched off.",
    "全部作品直接使用该音乐，或未启用音频比对。",
  ],
  "comparisons.mfcc_distance": ["Timbre difference", "音色差异"],
  "comparisons.note": [
    "The deciding pair of each compared video, including rejected ones.",
    "每个候选作品起决定作用的一次比对，包括未通过的。",
  ],
  "comparisons.overlap_s": ["Seconds compared", "比对时长（秒）"],
  "comparisons.score": ["Score", "得分"],
  "evidence.back": ["All compared videos", "全部比对作品"],
  "evidence.candidate": ["This video", "该作品"],
  "evidence.how": ["How we measured", "如何判定"],
  "evidence.how_lead": [
    "Two sounds are the same recording if they are close enough in every measure below. Each verdict " +
      "holds only for what was searched.",
    "各项测量值均足够接近，才认定为同一录音；结论仅在搜索范围内成立。",
  ],
  "evidence.no_plot": [
    "The audio features of this comparison were not kept, so there is no evidence plot.",
    "该比对的音频特征未保留，无法绘制依据图。",
  ],
  "evidence.of_service": ["song of the music service", "音乐服务原曲"],
  "evidence.plot": ["Evidence plot", "匹配依据图"],
  "evidence.plot_alt": [
    "Chroma strips of both sounds on one time axis, and a map of their similarity per second.",
    "两段音频在同一时间轴上的色度图，以及逐秒相似度图。",
  ],
  "evidence.plot_note": [
    "The strips show which tones sound when. A bright diagonal means that both play the same music.",
    "色度图显示各时刻的音高；明亮的对角线表示两段音频播放同一音乐。",
  ],
  "evidence.reference": ["The song", "歌曲"],
  "evidence.searched": ["What was searched", "搜索范围"],
  "evidence.searched_both": ["Both at once: {least} to {most} ×.", "两者同时改动：{least} 至 {most} 倍。"],
  "evidence.searched_edits": [
    "Played slower or faster ({slow} to {fast} ×), lower or higher ({low} to {high} semitones).",
    "加速或减速（{slow} 至 {fast} 倍），升调或降调（{low} 至 {high} 个半音）。",
  ],
  "evidence.searched_excerpts": ["An unchanged part counts from {least} s.", "未改动的片段不短于 {least} 秒即可计入。"],
  "evidence.searched_unchanged": ["Only the original speed and pitch.", "仅按原速原调。"],
  "evidence.searched_used": [
    "The first {reference} s of the song and the first {candidate} s of the video; at least {overlap} s " +
      "must be in common.",
    "歌曲的前 {reference} 秒与作品的前 {candidate} 秒，共同部分不短于 {overlap} 秒。",
  ],
  "evidence.title": ["Evidence", "匹配依据"],
  "evidence.version_score": ["Version score", "版本得分"],
  "measure.at_least": ["at least {limit}", "不低于 {limit}"],
  "measure.at_most": ["at most {limit}", "不高于 {limit}"],
  "measure.chroma_distance": ["Difference in melody and harmony", "旋律与和声差异"],
  "measure.chroma_distance_means": [
    "Chroma distance: 0 is identical, about 1 is unrelated music.",
    "色度距离：0 为完全相同，约 1 为无关音乐。",
  ],
  "measure.met": ["met", "满足"],
  "measure.mfcc_distance": ["Difference in sound colour", "音色差异"],
  "measure.mfcc_distance_means": [
    "MFCC distance: 0 is identical, about 1 is an unrelated sound.",
    "MFCC 距离：0 为完全相同，约 1 为无关声音。",
  ],
  "measure.missed": ["not met", "未满足"],
  "measure.no_limit": ["no limit", "无阈值"],
  "measure.overlap_s": ["Seconds compared", "比对时长（秒）"],
  "measure.overlap_s_means": ["The part that is marked on both waveforms.", "即两条波形上标出的部分。"],
  "measure.peak_agreement": ["Same tones at the same moments", "同一时刻的相同音"],
  "measure.peak_agreement_means": [
    "Peak agreement: 1 is all of them, 0 no more than by chance.",
    "峰值一致度：1 为全部一致，0 为与随机无异。",
  ],
  "measure.score": ["Score", "综合得分"],
  "measure.score_means": [
    "All measures together: 1 is certain, 0 is no likeness.",
    "综合各项：1 为确定相同，0 为毫无相似。",
  ],
  "notes.lead": [
    "Notes are stored with the evidence. They change no verdict; they help to calibrate the limits.",
    "备注与匹配依据一同保存，不改变结论，用于校准阈值。",
  ],
  "notes.not_the_same": ["Not the same", "不是同款"],
  "notes.note": ["Note (optional)", "备注（可选）"],
  "notes.same": ["The same", "是同款"],
  "notes.title": ["Your judgement", "您的判断"],
  "player.at": ["{second} s of the song", "歌曲第 {second} 秒"],
  "player.closest": [
    "What is most alike is marked on both: {from} to {to} s of the song, in the video from {video} s.",
    "两条波形上标出最相似的部分：歌曲第 {from} 至 {to} 秒，作品自第 {video} 秒起。",
  ],
  "player.excerpts_off": [
    "{sound} cannot be played: this service stores no excerpts.",
    "{sound}无法试听：本服务未启用片段保存。",
  ],
  "player.loading": ["Loading…", "加载中…"],
  "player.not_aligned": [
    "{sound} cannot be played: no part of it was compared.",
    "{sound}无法试听：未比对任何片段。",
  ],
  "player.note": [
    "Both clips play in sync, about ten seconds of the marked part. Switching (or pressing X) changes " +
      "the clip, not the position.",
    "两段音频同步播放标出部分的约十秒。切换（或按 X）只换音频，不换位置。",
  ],
  "player.part": [
    "What matches is marked on both: {from} to {to} s of the song, in the video from {video} s.",
    "两条波形上标出匹配的部分：歌曲第 {from} 至 {to} 秒，作品自第 {video} 秒起。",
  ],
  "player.pause": ["Pause", "暂停"],
  "player.play": ["Play", "播放"],
  "player.position": ["Position", "位置"],
  "player.readable": [
    "{sound} is not stored: Play reads it from the platform first, as a guest.",
    "{sound}未保存片段：播放时将以访客身份从平台读取。",
  ],
  "player.second": ["{second} s", "{second} 秒"],
  "player.switch": ["Playing", "正在播放"],
  "player.undo": ["Undo its speed (× {factor}), so that both play in time", "还原作品的速度（{factor} 倍），使两者同步"],
  "verdict.confirmed": ["Confirmed", "已确认"],
  "verdict.not_comparable": ["Not comparable", "无法比对"],
  "verdict.rejected": ["Rejected", "未通过"],
  "verdict.variant": ["Variant", "变体"],
});
