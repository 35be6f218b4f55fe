"""English and Chinese headings of the columns of exports, for files that people read.

Files for programs have the names of the columns. Counts have their labels in `messages.FIGURES`.
"""

from collections.abc import Mapping

from pipelines.documents import messages
from pipelines.documents.messages import FIGURES, Message, figure_heading

COLUMNS: Mapping[str, Message] = {
    **{name: figure_heading(name) for name in FIGURES},
    "account_count": Message("Creators", "创作者数"),
    "algorithm": Message("Algorithm", "算法"),
    "analyzed_count": Message("Videos analysed", "分析作品数"),
    "artist": Message("Artist", "歌手"),
    "average_digg_count": Message("Average likes", "平均点赞"),
    "aweme_id": Message("Video id", "作品 ID"),
    "born_with": Message("Uploaded with video", "随作品上传（作品 ID）"),
    "candidate_aweme_id": Message("Compared video", "候选作品 ID"),
    "candidate_music_id": Message("Music id of the compared video", "候选音乐 ID"),
    "candidate_start_s": Message("Start in the compared video [s]", "候选起点（秒）"),
    "chart_date": Message("Issue", "期次日期"),
    "chroma_distance": Message("Chroma distance", "Chroma 距离"),
    "comparison_id": Message("Comparison id", "比对 ID"),
    "concluded_at": Message("Scanned", "扫描时间"),
    "confirmed_video_count": Message("Confirmed videos", "已确认作品"),
    "create_time": Message("Published", "发布时间"),
    "created_at": Message("Created", "创建时间"),
    "created_at_source": Message("Source of the creation time", "创建时间来源"),
    "day": Message("Day", "日期"),
    "days": Message("Days", "天数"),
    "desc": Message("Caption", "文案"),
    "duplicate_with_returned_ranking": Message("Also in the ranking", "已在排行中"),
    "duration_s": Message("Length [s]", "时长（秒）"),
    "error": Message("Error", "错误"),
    "fallen_video_count": Message("Videos that fell", "排名下降作品"),
    "first_observed_at": Message("First observed", "首次观测"),
    "follower_count_source": Message("Source of the followers", "粉丝数来源"),
    "foreign_rows": Message("Rows of other entities", "属于其他对象"),
    "gone_video_count": Message("Videos no longer confirmed", "不再确认作品"),
    "input": Message("Input", "输入内容"),
    "is_demo_data": Message("Demo data", "演示数据"),
    "is_exact": Message("Exact counts", "计数精确"),
    "is_new": Message("New in the chart", "新上榜"),
    "is_viral": Message("Viral", "爆款"),
    "issue_name": Message("Name of the issue", "期次名称"),
    "items": Message("Items", "条目"),
    "job_id": Message("Scan id", "扫描 ID"),
    "last_result_at": Message("Newest result", "最近结果时间"),
    "library_version": Message("Library version", "库版本"),
    "link_type": Message("Link", "关联方式"),
    "linked_collect_count": Message("Bookmarks on these videos", "关联作品收藏"),
    "linked_comment_count": Message("Comments on these videos", "关联作品评论"),
    "linked_digg_count": Message("Likes on these videos", "关联作品点赞"),
    "linked_share_count": Message("Shares of these videos", "关联作品分享"),
    "linked_statistics_complete": Message("Counts of these videos complete", "关联作品计数完整"),
    "linked_video_count": Message("Videos with this track", "关联作品数"),
    "media_type": Message("Type", "作品类型"),
    "median_digg_count": Message("Median likes", "点赞中位数"),
    "mfcc_distance": Message("MFCC distance", "MFCC 距离"),
    "music_created_at": Message("Sound uploaded", "原声上传时间"),
    "music_id": Message("Music id", "音乐 ID"),
    "music_id_estimate": Message("Estimated music ids", "估计音乐 ID 数"),
    "music_id_lower": Message("Estimated music ids, at least", "估计音乐 ID 数（下限）"),
    "music_id_upper": Message("Estimated music ids, at most", "估计音乐 ID 数（上限）"),
    "music_title": Message("Sound", "音乐标题"),
    "new_items": Message("New items", "新增条目"),
    "new_music_id_count": Message("New music ids", "新增音乐 ID"),
    "new_video_count": Message("New videos", "新增作品"),
    "newest_job_id": Message("Newest scan id", "最近扫描 ID"),
    "nickname": Message("Account", "账号"),
    "observation": Message("Observation", "观察"),
    "observed_at": Message("Observed", "观测时间"),
    "overlap_s": Message("Overlap [s]", "重叠（秒）"),
    "pages": Message("Pages", "页数"),
    "peak_agreement": Message("Shared peaks", "谱峰一致度"),
    "previous_date": Message("Day before", "前一观测日"),
    "previous_rank": Message("Previous rank", "上期名次"),
    "priority": Message("Priority", "优先级"),
    "profile_complete": Message("Profile complete", "资料完整"),
    "rank": Message("Rank", "名次"),
    "rank_change": Message("Change of rank", "名次变化"),
    "reason": Message("Reason", "原因"),
    "reference_aweme_id": Message("Reference video", "参考作品 ID"),
    "reference_kind": Message("Kind of reference", "参考类型"),
    "reference_music_id": Message("Music id of the reference", "参考音乐 ID"),
    "reference_service_track_id": Message("Reference track", "参考曲目 ID"),
    "reference_source": Message("Source of the reference", "参考来源"),
    "reference_start_s": Message("Start in the reference [s]", "参考起点（秒）"),
    "relation": Message("Relation", "关系"),
    "requests": Message("Requests", "请求数"),
    "risen_video_count": Message("Videos that rose", "排名上升作品"),
    "score": Message("Score", "综合得分"),
    "search_relevance_level": Message("Relevance", "相关度"),
    "sec_uid": Message("Account id", "账号 ID"),
    "sec_user_id": Message("Account id", "账号 ID"),
    "segment": Message("Segment", "比对范围"),
    "semitones": Message("Semitones", "半音"),
    "share_url": Message("Link to the video", "作品链接"),
    "shared_part": Message("Shared part", "相同部分"),
    "song_key": Message("Song key", "歌曲标识"),
    "source_music_id": Message("Music id used", "所用音乐 ID"),
    "source_music_title": Message("Sound used", "所用音乐"),
    "source_music_url": Message("Link to the sound", "音乐链接"),
    "speed": Message("Speed", "速度"),
    "state": Message("State", "状态"),
    "statistics_complete": Message("Counts complete", "计数完整"),
    "stop_reason": Message("Stopped because", "停止原因"),
    "surface": Message("Source", "来源"),
    "target_date": Message("Date", "查询日期"),
    "title": Message("Title", "歌名"),
    "top_aweme_id": Message("Most liked video", "最高赞作品 ID"),
    "top_desc": Message("Caption of the most liked video", "最高赞作品文案"),
    "unique_id": Message("Handle", "账号名"),
    "use_count_exact": Message("Exact usage count", "使用量精确"),
    "use_count_observed_at": Message("Usage observed", "使用量观测时间"),
    "use_count_step": Message("Step of the usage count", "使用量步长"),
    "uses_gained": Message("Usage gained", "使用量增加"),
    "variant_kind": Message("Kind of variant", "变体类型"),
    "variant_video_count": Message("Variants", "变体数"),
    "verdict": Message("Verdict", "结论"),
    "version_score": Message("Version score", "版本得分"),
    "volid": Message("Issue id", "期次 ID"),
    "window_end": Message("End of the period", "统计截止"),
    "window_start": Message("Start of the period", "统计起始"),
}
"""Times have their zone in the heading: a sheet stores none."""

FACTS: Mapping[str, Message] = {
    "exported_at": Message("Exported", "导出时间"),
    "source": Message("Read operation", "读取接口"),
    "rows": Message("Rows", "行数"),
    "keyword": Message("Searched name", "搜索名称"),
    "data_provider": Message("Source of the data", "数据来源"),
    "returned_count": Message("Ranked videos", "上榜作品"),
    "requested_count": Message("Requested videos", "请求数量"),
    "count_satisfied": Message("As many as requested", "数量满足请求"),
    "candidate_pool_size": Message("Candidates", "候选作品"),
    "coverage_complete": Message("Everything on the platform", "平台全量"),
    "coverage_note": Message("Coverage", "覆盖范围"),
    "node_count": Message("Dates", "查询日期数"),
    "collected_count": Message("Dates with an issue", "已有榜单的日期数"),
    "not_collected_count": Message("Dates not read yet", "尚未读取的日期数"),
    "requested_end_date": Message("Requested last day", "请求的截止日期"),
    "end_date_cut": Message("Cut to the latest issue", "已截至最新一期"),
    "issues_refreshed": Message("List of issues read again", "已重新读取期次列表"),
    "columns": Message("Columns shown", "所选列"),
    "order": Message("Order", "排序"),
    "account": Message("Only accounts with", "仅含账号"),
}
"""What the sheet on method says of a file, besides the columns."""

CODES: Mapping[str, Mapping[str, Message]] = {
    "surface": messages.SURFACES,
    "stop_reason": messages.STOPS,
    "link_type": messages.LINKS,
    "reason": messages.REASONS,
    "observation": messages.OBSERVATIONS,
    "relation": messages.RELATIONS,
    "shared_part": messages.SHARED_PARTS,
    "variant_kind": messages.VARIANTS,
    "search_relevance_level": messages.RELEVANCE,
    "verdict": {
        "confirmed": Message("confirmed", "已确认"),
        "variant": Message("variant", "变体"),
        "rejected": Message("rejected", "未通过"),
        "not_comparable": Message("not comparable", "无法比对"),
    },
    "media_type": {"video": Message("video", "视频"), "photo": Message("photo", "图文")},
    "segment": {"whole": Message("whole", "整段"), "local": Message("local", "局部")},
}
"""Columns whose values are codes with a message."""

_IN_UTC = Message(" (UTC)", "（UTC）")


def column_heading(name: str, kind: str, language: str) -> str:
    """Return the heading of a column; a name without one is shown as words."""
    message = COLUMNS.get(name)
    words = name.replace("_", " ").capitalize() if message is None else message.text(language)
    return words + _IN_UTC.text(language) if kind == "time" else words


def fact_heading(name: str, language: str) -> str:
    """Return the words of a fact of the method sheet; a parameter of a scan keeps its name."""
    message = FACTS.get(name) or COLUMNS.get(name)
    return name if message is None else message.text(language)


def code_words(column: str, value: object, language: str) -> object:
    """Return the words of a code in a column; any other value as it is."""
    message = CODES.get(column, {}).get(value) if isinstance(value, str) else None
    return value if message is None else message.text(language)
