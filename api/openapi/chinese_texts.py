"""Chinese texts of the API description that do not belong to a single declaration.

Operations by short name (`api/openapi/reference.py`), tags, hints on errors. The Chinese meaning of
a parameter is declared with the parameter; error messages are in `api/responses/errors.py`.
"""

from collections.abc import Mapping

from api.params.scan import BATCH_INPUTS_MEANING
from pipelines.captures.inputs import ACCEPTED_INPUT_HINT

HINTS_ZH: Mapping[str, str] = {
    "missing_parameter": "请补充上述提示中的参数",
    "invalid_parameter": "请按上述提示修改后重试，取值范围见接口文档",
    "unknown_parameter": "请删除或更正该参数名，全部参数见接口文档",
    "unresolvable_sec_user_id": "请提供主页链接、主页分享短链接、账号名或 sec_user_id",
    "invalid_music_input": "请提供音乐 ID (5 至 30 位数字)、音乐链接或使用该音乐的视频链接",
    "invalid_inputs": "请以文本数组提供 1 至 10 个 ID 或链接",
    "invalid_date_range": "start_date 与 end_date 使用 YYYY-MM-DD 格式，最早 2021-01-01",
    "malformed_json": "请发送一个完整的 JSON 文档",
    "malformed_request": "请在关闭连接之前发送完整请求体",
    "request_timeout": "请一次性发送完整请求体；时限由 REQUEST_TIMEOUT_S 设置",
    "unauthorized": "请携带请求头 Authorization: Bearer <令牌> 或 x-api-key: <令牌>",
    "role_required": "请使用具有上述权限的令牌；权限说明见 docs/operation.md",
    "cross_site_request": "请从本服务自带页面或程序中调用",
    "job_not_found": "请核对 job_id；任务超过保留期后会被删除",
    "not_found": "全部路径见 /docs",
    "method_not_allowed": "请使用 Allow 响应头列出的方法",
    "body_too_large": "请求体最大 64 kB",
    "unsupported_media_type": "请在请求头中携带 Content-Type: application/json",
    "host_not_allowed": "请使用服务监听的地址，或把该主机名加入 ALLOWED_HOSTS",
    "invalid_video_ids": "请求体须为顶层 JSON 数组，元素为 5 至 30 位数字的文本",
    "query_limit_exceeded": "请增加筛选条件，减少查询内容，或使用 `sametrack sql`",
    "local_rate_limit": "请按 Retry-After 等待后重试",
    "internal_error": "请重试；日志中可按 request_id 查到详情",
    "platform_verification_required": "可创建采集任务（search_enabled=true），读取访客可见的内容",
    "provider_unsupported": "请使用受支持的接口，例如 POST music_collection_jobs 并提供 `input`",
    "upstream_empty": "请稍后重试",
    "upstream_page_without_data": "请稍后重试",
    "upstream_verification": "本服务不绕过验证；请稍后重试或更换网络",
    "upstream_login_required": "该内容无法以访客身份读取",
    "upstream_signature_demanded": "本服务不生成签名；如有其他来源会改用其他来源，请稍后重试",
    "upstream_forbidden": "请稍后重试",
    "upstream_rate_limited": "请按 Retry-After 等待后重试",
    "upstream_region_blocked": "请更换网络",
    "upstream_substitution": "请核对 ID",
    "upstream_refused_lately": "请稍后重试：每十分钟会试探一次平台是否恢复",
    "upstream_structure_changed": "请升级 Sametrack，或反馈 upstream.reason 中的字段名",
    "upstream_unreachable": "请检查网络后重试",
    "audio_unavailable": "请稍后重试，或设置 verify_audio=false",
    "chart_unavailable": "请稍后重试",
    "mobile_device_unavailable": "请运行 `sametrack doctor` 检查设备",
    "mobile_app_unreadable": "请运行 `sametrack doctor`；支持的应用版本见 docs/providers.md",
    "profile_not_chosen": "设置 PROFILE=sandbox 使用沙盒，或运行 `sametrack init`",
    "warehouse_unavailable": "请查看 /readyz 后重试",
    "worker_unavailable": "请运行 `sametrack worker` 启动后台进程",
    "capacity_exhausted": "请释放磁盘空间或稍后重试",
    "upstream_budget_spent": "请等到次日（UTC），或调大 DAILY_REQUEST_BUDGET",
}

TAGS_ZH: Mapping[str, str] = {
    "User": "用户",
    "Music": "音乐",
    "Jobs": "采集任务",
    "Search": "搜索",
    "Video": "视频",
    "Hashtag": "话题",
    "Chart": "榜单",
    "Sametrack": "扩展接口",
    "Operation": "运行状态",
}

SUMMARIES_ZH: Mapping[str, str] = {
    "get_sec_user_id": "从链接或账号名解析 sec_user_id",
    "handler_user_profile": "用户主页信息",
    "fetch_user_post_videos": "用户作品列表",
    "fetch_user_metrics": "创作者指标",
    "fetch_music_hot_videos": "音乐热门作品",
    "fetch_music_hot_videos_batch": "批量音乐热门作品",
    "music_collection_jobs": "创建后台采集任务",
    "music_collection_job": "任务进度与结果",
    "cancel_music_collection_job": "取消任务",
    "discover_music_related_videos": "发现音乐关联作品",
    "fetch_multi_video_web": "批量视频详情（最多 50 个）",
    "fetch_multi_video_app": "批量视频详情（最多 10 个）",
    "fetch_music_video_list": "音乐作品列表",
    "fetch_hashtag_video_list": "话题作品列表",
    "fetch_music_search": "音乐搜索（始终 501）",
    "fetch_video_search_v1": "视频搜索（始终 501）",
    "chart_history": "历史榜单",
    "sametrack_jobs": "任务列表",
    "sametrack_job_events": "任务实时进度",
    "sametrack_job_ranking": "任务结果的其他视图",
    "sametrack_comparison": "单次音频比对的证据",
    "sametrack_comparison_svg": "比对图（SVG）",
    "sametrack_comparison_png": "比对图（PNG）",
    "sametrack_comparison_excerpt": "比对片段试听（MP3）",
    "sametrack_video_excerpt": "作品音频试听（MP3）",
    "sametrack_track": "音乐主页",
    "sametrack_job_report": "任务报告（HTML）",
    "sametrack_track_report": "音乐主页（HTML）",
    "sametrack_notes": "备注与标签",
    "sametrack_note": "保存备注与标签",
    "sametrack_picture": "封面或头像（JPEG）",
    "sametrack_annotate": "人工标注",
    "sametrack_annotations": "人工标注列表",
    "sametrack_settings": "生效的设置",
    "sametrack_example": "示例音乐",
    "sametrack_doctor": "最近一次诊断结果",
    "sametrack_reference": "参数速查",
    "sametrack_queries": "常用查询列表",
    "sametrack_tables": "数据表与字段",
    "sametrack_sql": "执行 SQL 查询",
    "sametrack_sql_export": "导出 SQL 查询结果",
    "healthz": "进程存活",
    "readyz": "就绪检查",
}
"""Summaries of operations. Default: the first Chinese sentence of the docstring."""

DESCRIPTIONS_ZH: Mapping[str, str] = {
    "get_sec_user_id": (
        "输入主页链接、分享短链接、作品链接、账号名或包含链接的文本，返回对应的 sec_user_id. "
        "作品链接解析为作者账号；短链接和账号名只解析一次，结果会保存。"
    ),
    "handler_user_profile": "读取账号公开主页：昵称、粉丝数、获赞数、作品数等；未展示的值为 null.",
    "fetch_user_post_videos": (
        "分页读取账号的公开作品。下一页使用返回的 max_cursor. 平台返回空内容或要求验证时，"
        "给出明确错误，不虚构数据。"
    ),
    "fetch_user_metrics": (
        "粉丝数、获赞数，以及最近 days 天内最新作品的平均点赞、点赞中位数和点赞最高的作品。"
        "部分数据未能及时读取时 statistics_complete 为 false；无作品时平均值为 null."
    ),
    "fetch_music_hot_videos": (
        "按音乐查找并排行热门作品。已有有效结果时直接返回（200）；否则创建采集任务，"
        "或加入相同的运行中任务（202），请轮询 data.poll_url."
    ),
    "fetch_music_hot_videos_batch": (
        "最多 10 首音乐，逐首独立处理：返回已有结果、任务或该项的错误。"
        "音乐服务的歌单、专辑或歌手链接会展开为其中的歌曲，超出部分的数量见 `lists` 和提示。"
        "全部任务创建或匹配后立即返回，不等待任务完成。"
    ),
    "music_collection_jobs": (
        "为音乐创建后台公开数据采集任务，或以 search_only 仅按歌名搜索。"
        "已有有效结果时返回 200 与已完成的任务，否则返回 202."
    ),
    "music_collection_job": "查询任务的状态与进度；完成后 data.result 为结果。",
    "cancel_music_collection_job": "请求取消任务；已结束的任务保持不变，已保存的观测会保留。",
    "discover_music_related_videos": (
        "第一层扫描该音乐作者的首屏作品，第二层对其他音乐 ID 的候选做本地音频核验。"
        "aweme_list 只含通过核验的作品；candidates 保留全部文本候选及其通过或拒绝的原因。"
        "请求会等待任务完成；重复请求会加入运行中的任务。"
    ),
    "fetch_multi_video_web": (
        "请求体为 1 至 50 个视频 ID 的顶层数组。读取成功的在 aweme_list，无法读取的在 filter_list "
        "并说明原因；绝不填充虚假数据。"
    ),
    "fetch_multi_video_app": "与 web 版本相同，请求体为 1 至 10 个视频 ID 的顶层数组。",
    "fetch_music_video_list": (
        "读取音乐的公开首屏作品，与历史观测合并去重，再以本地游标分页。"
        "翻页期间列表保持第一页时的状态；refresh=true 会重新读取首屏。"
    ),
    "fetch_hashtag_video_list": (
        "读取话题的公开首屏作品，与历史观测合并去重，再以本地游标分页。"
        "sort_type: 0 公开顺序，1 点赞数，2 发布时间。"
    ),
    "fetch_music_search": "平台的音乐搜索需要验证：始终返回 501，不绕过验证，不模拟结果。",
    "fetch_video_search_v1": "平台的视频搜索需要验证：始终返回 501，不绕过验证，不模拟结果。",
    "chart_history": (
        "在日期范围内每 10 天取一期真实榜单，每期返回前 20 首。"
        "没有榜单或尚未读取的节点会给出原因；超出最新一期的 end_date 会被截断并注明。"
    ),
    "sametrack_jobs": "最新的采集任务，不含结果。",
    "sametrack_job_ranking": "按其他排序或数量返回任务的结果，不会启动新的采集。",
    "sametrack_job_events": (
        "以服务器推送事件（SSE）返回任务的每次变化，最后一个事件为 ended. "
        "Last-Event-ID 已是最终状态时返回 204."
    ),
    "sametrack_reference": "全部接口的参数、取值范围与错误说明，中英双语。",
}
"""Descriptions of operations. Default: the Chinese sentences of the docstring."""

PHRASES_ZH: Mapping[str, str] = {
    # what parameters mean
    ACCEPTED_INPUT_HINT: "音乐 ID (5 至 30 位数字)、音乐分享链接或使用该音乐的视频链接",
    BATCH_INPUTS_MEANING: (
        "音乐 ID、音乐链接或视频链接的数组；"
        "音乐服务的歌单、专辑或歌手链接代表其中的歌曲；逐首独立处理"
    ),
    "id of a collection job": "采集任务 ID",
    "id of the last event received": "最后收到的事件 ID",
    "`evidence.comparison_id` of a result": "结果中的 `evidence.comparison_id`",
    "which of the two sounds": "两段声音中的哪一段",
    "search keyword": "搜索词",
    "accepted but unused": "接受但不使用",
    "same as `request_id`": "与 `request_id` 相同",
    "path to poll the job": "任务的轮询地址",
    "recommended seconds to wait before a retry": "建议再次请求前等待的秒数",
    "weak ETag of `data`": "`data` 的弱 ETag",
    # what responses contain
    "Ranking from a stored result": "已有结果的排行",
    "Started or joined job": "已启动或已加入的任务",
    "`data` matches If-None-Match": "`data` 与 If-None-Match 一致，未变化",
    "Each item with its job, stored result or error": "每一项的任务、已有结果或错误",
    "Verified matches and all candidates": "通过核验的作品与全部候选",
    "Completed job with a valid stored result": "已有有效结果的已完成任务",
    "Current state of the job": "任务当前状态",
    "Job after the cancellation request": "请求取消之后的任务",
    "Videos that were read, and reasons for the others": "已读取的作品，以及其余作品未读取的原因",
    "One issue per node": "每个节点一期榜单",
    "Resolved account": "链接指向的账号",
    "Account profile": "账号信息",
    "Page of posts": "一页作品",
    "Engagement of the newest videos in the window": "窗口内最新作品的互动数据",
    "Page of the observed union": "历史观测并集的一页",
    "Newest jobs": "最新任务",
    "The client already has the final state": "客户端已收到最终状态",
    "Stored measurements": "已保存的比对数据",
    "Evidence plot": "比对图",
    "All operations and error types": "全部接口与全部错误类型",
    "Successful Response": "请求成功",
    "Service Unavailable": "尚未就绪",
}
"""Translations of descriptions that are declared in English only, keyed by the English text."""
