// Labels of counts. English, then Chinese. Written by `make docs` from FIGURES of
// pipelines/documents/messages.py.
import { addMessages } from "../i18n.js";

addMessages({
  "stat.use_count": ["Videos with the sound on the platform", "平台使用量"],
  "stat.confirmed_count": ["Confirmed videos", "已确认作品"],
  "stat.music_id_count": ["Music ids with this recording", "使用同一录音的音乐 ID"],
  "stat.unique_account_count": ["Accounts (at least)", "账号数（至少）"],
  "stat.hot_score_sum": ["Total hot score", "作品总热度"],
  "stat.follower_count": ["Followers", "粉丝"],
  "stat.total_favorited": ["Likes received", "获赞总数"],
  "stat.aweme_count": ["Posts", "作品数"],
  "stat.following_count": ["Following", "关注"],
  "stat.favoriting_count": ["Likes given", "喜欢数"],
  "stat.work_count": ["Confirmed videos", "已确认作品"],
  "stat.view_count": ["Views", "播放"],
  "stat.user_count": ["Users", "参与人数"],
  "stat.digg_count": ["Likes", "点赞"],
  "stat.comment_count": ["Comments", "评论"],
  "stat.collect_count": ["Bookmarks", "收藏"],
  "stat.share_count": ["Shares", "分享"],
  "stat.hot_score": ["Hot score", "热度"],
});
