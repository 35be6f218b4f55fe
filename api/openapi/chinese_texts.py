"""Chinese words of the API description that stand beside no single declaration.

Operations by their short name (`api/openapi/reference.py`), tags, advice on errors. What a
parameter means
in Chinese stands where the parameter is declared; the messages of errors in
`api/responses/errors.py`.
"""

from collections.abc import Mapping

from pipelines.captures.inputs import WHAT_TO_GIVE

HINTS_ZH: Mapping[str, str] = {
    "missing_parameter": "补充 detail 中指出的参数",
    "invalid_parameter": "按 detail 修改参数值, 取值范围见接口文档",
    "unknown_parameter": "删除或更正该参数名, 接口文档列出全部参数",
    "unresolvable_sec_user_id": "请提供主页链接、主页分享短链接或 sec_user_id 本身",
    "invalid_music_input": "请提供音乐 ID (5 至 30 位数字)、音乐链接或使用该音乐的视频链接",
    "invalid_inputs": "请以文本数组提供 1 至 10 个 ID 或链接",
    "invalid_date_range": "start_date 与 end_date 使用 YYYY-MM-DD 格式, 最早 2021-01-01",
    "malformed_json": "请发送一个完整的 JSON 文档",
    "unauthorized": "请求头携带 Authorization: Bearer <令牌> 或 x-api-key: <令牌>",
    "cross_site_request": "请从本服务自带页面或程序中调用",
    "job_not_found": "请核对 job_id; 结果只在保留期内可查",
    "not_found": "可用路径见 /docs",
    "method_not_allowed": "请使用 Allow 响应头列出的方法",
    "body_too_large": "请求体最大 64 kB",
    "unsupported_media_type": "请求头携带 Content-Type: application/json",
    "host_not_allowed": "请使用服务监听的地址, 或把该主机名加入 ALLOWED_HOSTS",
    "invalid_video_ids": "请求体须为顶层 JSON 数组, 元素为 5 至 30 位数字的文本",
    "local_rate_limit": "按 Retry-After 等待后重试",
    "internal_error": "请重试; 日志中可按 request_id 查到详情",
    "platform_verification_required": "可启动采集任务 (search_enabled=true), 读取游客可见的结果",
    "provider_unsupported": "音乐排行可用: POST music_collection_jobs 并提供 `input`",
    "upstream_empty": "请稍后重试",
    "upstream_page_without_data": "请稍后重试",
    "upstream_verification": "本服务从不绕过验证; 请稍后或更换网络重试",
    "upstream_login_required": "游客无法读取该内容",
    "upstream_forbidden": "请稍后重试",
    "upstream_rate_limited": "按 Retry-After 等待后重试",
    "upstream_region_blocked": "请更换网络",
    "upstream_substitution": "请核对 ID",
    "upstream_structure_changed": "请升级 Sametrack, 或反馈 upstream.reason 中的字段名",
    "upstream_unreachable": "请检查网络后重试",
    "audio_unavailable": "请稍后重试, 或设置 verify_audio=false",
    "chart_unavailable": "请稍后重试",
    "mobile_device_unavailable": "运行 `sametrack doctor`, 查看设备缺少什么",
    "mobile_app_unreadable": "运行 `sametrack doctor`; 应用版本的界面布局见 docs/providers.md",
    "profile_not_chosen": "设置 PROFILE=sandbox 试用模拟平台, 或运行 `sametrack init`",
    "warehouse_unavailable": "查看 /readyz 后重试",
    "worker_unavailable": "启动后台进程: `sametrack worker`",
    "capacity_exhausted": "释放磁盘空间或稍后重试",
    "upstream_budget_spent": "等到明天, 或调大 DAILY_REQUEST_BUDGET",
}

TAGS_ZH: Mapping[str, str] = {
    "User": "用户",
    "Music": "音乐",
    "Jobs": "采集任务",
    "Search": "搜索",
    "Video": "视频",
    "Hashtag": "话题",
    "Chart": "榜单",
    "Sametrack": "本服务扩展接口",
    "Operation": "运行状态",
}

SUMMARIES_ZH: Mapping[str, str] = {
    "get_sec_user_id": "从链接解析 sec_user_id",
    "handler_user_profile": "用户主页信息",
    "fetch_user_post_videos": "用户作品列表",
    "fetch_user_metrics": "创作者指标",
    "fetch_music_hot_videos": "音乐热门作品",
    "fetch_music_hot_videos_batch": "批量音乐热门作品",
    "music_collection_jobs": "创建后台采集任务",
    "music_collection_job": "任务进度与结果",
    "cancel_music_collection_job": "取消任务",
    "discover_music_related_videos": "发现音乐关联作品",
    "fetch_multi_video_web": "批量视频详情 (最多 50 个)",
    "fetch_multi_video_app": "批量视频详情 (最多 10 个)",
    "fetch_music_video_list": "音乐作品列表",
    "fetch_hashtag_video_list": "话题作品列表",
    "fetch_music_search": "音乐搜索 (始终 501)",
    "fetch_video_search_v1": "视频搜索 (始终 501)",
    "chart_history": "历史榜单",
    "sametrack_jobs": "任务列表",
    "sametrack_job_events": "任务实时进度",
    "sametrack_comparison": "单次音频比对的证据",
    "sametrack_comparison_svg": "比对图 (SVG)",
    "sametrack_comparison_png": "比对图 (PNG)",
    "sametrack_comparison_excerpt": "比对片段试听 (MP3)",
    "sametrack_annotate": "人工标注",
    "sametrack_annotations": "人工标注列表",
    "sametrack_doctor": "最近一次诊断结果",
    "sametrack_reference": "参数速查",
    "healthz": "进程存活",
    "readyz": "就绪检查",
}
"""Summaries of operations; one that is missing here is named by the Chinese of its docstring."""

DESCRIPTIONS_ZH: Mapping[str, str] = {
    "get_sec_user_id": (
        "输入主页链接、分享短链接、作品链接或包含链接的文本, 返回对应的 sec_user_id. "
        "作品链接解析为其作者; 短链接只跟随一次, 结果会被记住."
    ),
    "handler_user_profile": "读取账号公开主页: 昵称、粉丝数、获赞数、作品数等; 未展示的值为 null.",
    "fetch_user_post_videos": (
        "分页读取账号的公开作品. 下一页使用返回的 max_cursor. 平台返回空内容或要求验证时, "
        "给出明确错误, 不虚构数据."
    ),
    "fetch_user_metrics": (
        "粉丝数、获赞数, 以及最近 days 天内最新作品的平均点赞、中位点赞和点赞最高的作品. "
        "来不及读取的计数使 statistics_complete 为 false; 无样本时平均值为 null."
    ),
    "fetch_music_hot_videos": (
        "按音乐查找并排行热门作品. 已有可用的存储结果时直接返回 (200); 否则创建采集任务, "
        "或加入相同的运行中任务 (202), 请轮询 data.poll_url."
    ),
    "fetch_music_hot_videos_batch": (
        "最多 10 个音乐输入, 逐项独立判断: 返回存储结果、任务或该项的错误. "
        "全部任务创建或找到后立即返回, 不等待任务完成."
    ),
    "music_collection_jobs": (
        "为音乐创建后台公开数据采集任务, 或以 search_only 仅按歌名搜索. "
        "存储结果可用时返回 200 与已完成的任务, 否则返回 202."
    ),
    "music_collection_job": "查询任务的状态与进度; 完成后 data.result 为结果.",
    "cancel_music_collection_job": "请求取消任务; 已结束的任务保持不变, 已保存的观测会保留.",
    "discover_music_related_videos": (
        "第一层扫描该音乐作者的首屏作品, 第二层对不同音乐 ID 的候选做本地音频核验. "
        "aweme_list 只含通过核验的作品; candidates 保留全部文本候选及其通过或拒绝的原因. "
        "请求会等待结果; 再次请求会加入运行中的任务."
    ),
    "fetch_multi_video_web": (
        "请求体为 1 至 50 个视频 ID 的顶层数组. 读取成功的在 aweme_list, 无法读取的在 filter_list "
        "并说明原因; 绝不填充虚假数据."
    ),
    "fetch_multi_video_app": "与 web 版本相同, 请求体为 1 至 10 个视频 ID 的顶层数组.",
    "fetch_music_video_list": (
        "读取音乐的公开首屏作品, 与历史观测合并去重, 再以本地游标分页. "
        "同一次翻页始终展示开始时的状态; refresh=true 会重新读取首屏."
    ),
    "fetch_hashtag_video_list": (
        "读取话题的公开首屏作品, 与历史观测合并去重, 再以本地游标分页. "
        "sort_type: 0 公开顺序, 1 点赞数, 2 发布时间."
    ),
    "fetch_music_search": "平台的音乐搜索需要验证: 始终返回 501, 不绕过验证, 不模拟结果.",
    "fetch_video_search_v1": "平台的视频搜索需要验证: 始终返回 501, 不绕过验证, 不模拟结果.",
    "chart_history": (
        "在日期范围内每 10 天取一期真实榜单, 每期返回前 20 首. "
        "没有榜单或尚未读取的节点会给出原因; 超出最新一期的 end_date 会被截断并注明."
    ),
    "sametrack_jobs": "最新的采集任务, 不含结果.",
    "sametrack_job_events": (
        "以服务器推送事件 (SSE) 返回任务的每次变化, 最后一个事件为 ended. "
        "Last-Event-ID 已是最终状态时返回 204."
    ),
    "sametrack_reference": "全部接口的参数、取值范围与错误说明, 中英双语.",
}
"""Descriptions of operations; one that is missing here has the Chinese of its docstring."""

PHRASES_ZH: Mapping[str, str] = {
    # what parameters mean
    WHAT_TO_GIVE: "音乐 ID (5 至 30 位数字)、音乐分享链接或使用该音乐的视频链接",
    f"{WHAT_TO_GIVE}; each item is judged by itself": (
        "音乐 ID、音乐链接或视频链接的数组; 每一项单独判断"
    ),
    "another name for `music_id`": "`music_id` 的别名",
    "another name for `input`": "`input` 的别名",
    "song titles to search for, at most 8; default: the title of the track; comma-separated": (
        "搜索用歌名, 最多 8 个, 以逗号分隔; 默认为音乐标题"
    ),
    "song titles to search for, at most 8; default: the title of the track; an array, or text "
    "with commas": "搜索用歌名, 最多 8 个, 数组或以逗号分隔的文本; 默认为音乐标题",
    "song name, with `search_only`": "歌名, 与 `search_only` 一起使用",
    "search by keyword only, no track": "仅按关键词搜索, 不需要音乐",
    "id of a collection job": "采集任务 ID",
    "id of the last event that was read": "最后读到的事件 ID",
    "`evidence.comparison_id` of a result": "结果中的 `evidence.comparison_id`",
    "which of the two sounds": "两段声音中的哪一段",
    "what a person hears: `same` or `not_the_same`": "人耳判断: `same` 或 `not_the_same`",
    "in the person's own words": "文字说明",
    "how many of the newest jobs": "返回最新任务的数量",
    "only jobs in this state": "只返回该状态的任务",
    "what to search for": "搜索词",
    "accepted, never used": "接受但不使用",
    "the request_id": "即 request_id",
    "where the job is polled": "任务的轮询地址",
    "seconds until asking again makes sense": "建议再次请求前等待的秒数",
    "weak, over `data`": "弱校验, 针对 `data`",
    # what answers hold
    "The ranking from a stored result": "存储结果中的排行",
    "The job that was started or joined": "已启动或已加入的任务",
    "`data` is what If-None-Match names": "`data` 与 If-None-Match 所指内容相同",
    "Every item with its job, its stored result or its error": "每一项的任务、存储结果或错误",
    "Verified matches and all candidates": "通过核验的作品与全部候选",
    "The completed job whose stored result serves": "存储结果可用的已完成任务",
    "The job now": "任务当前状态",
    "The job after the request": "请求取消之后的任务",
    "Videos that were read, and why the others were not": "已读取的视频, 以及其余视频未读取的原因",
    "One issue per node": "每个节点一期榜单",
    "The account that it leads to": "链接指向的账号",
    "The account": "账号信息",
    "A page of posts": "一页作品",
    "What the newest works of the window gathered": "窗口内最新作品的互动数据",
    "A page of the union": "历史观测并集的一页",
    "The newest jobs": "最新任务",
    "The final state was read before": "最终状态此前已读取",
    "The stored numbers": "存储的数值",
    "The picture": "图片",
    "Every operation and every type of error": "全部接口与全部错误类型",
    "Successful Response": "请求成功",
    "Service Unavailable": "尚未就绪",
}
"""Chinese of descriptions that are declared in English alone, by that English."""
