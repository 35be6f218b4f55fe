"""Endpoints 1 to 4, 12 and 13: accounts with their posts and metrics, observed lists of videos."""

from api.params.lists import (
    HashtagListQuery,
    MetricsQuery,
    MusicListQuery,
    PostsQuery,
    ProfileQuery,
    ResolveQuery,
)
from api.routes.dependencies import DeadlineDep, MomentDep, SourcesDep
from api.routes.operations import OperationRoutes
from api.schemas.lists import CreatorMetrics, CursorList, PostList, ResolvedUser, UserProfile
from api.schemas.responses import DEVICE_ERRORS, PARAMETER_ERRORS, PLATFORM_ERRORS, UPSTREAM_ERRORS
from api.services.reads.documents import ReadResult, TimeWindow
from api.services.reads.lists import (
    HASHTAG_ORDERS,
    ListPageRequest,
    hashtag_list_source,
    music_list_source,
)
from api.services.reads.metrics import read_metrics
from api.services.reads.posts import ORDERS, read_posts
from api.services.reads.users import read_user, resolve_user

users, music, hashtags = (
    OperationRoutes("User"),
    OperationRoutes("Music"),
    OperationRoutes("Hashtag"),
)

_APP = "/api/v1/vidplat/app/v3"
_LIST_ERRORS = (*PARAMETER_ERRORS, *PLATFORM_ERRORS, *UPSTREAM_ERRORS)
_USER_ERRORS = (*_LIST_ERRORS, "unresolvable_sec_user_id")


@users.read(
    "/api/v1/vidplat/web/get_sec_user_id",
    "Resolve a link or a handle to a sec_user_id",
    "Resolved account",
    *_USER_ERRORS,
)
async def get_sec_user_id(
    query: ResolveQuery, sources: SourcesDep, now: MomentDep, deadline: DeadlineDep
) -> ReadResult[ResolvedUser]:
    """Resolve a profile link, short link, video link, handle or text. 解析 sec_user_id.

    A video link resolves to the author. `@` and a handle, alone, is looked up. Short links and
    handles are followed once and then remembered.
    """
    return await resolve_user(sources, query.url, now=now, deadline=deadline)


@users.read(f"{_APP}/handler_user_profile", "User profile", "Account profile", *_USER_ERRORS)
async def handler_user_profile(
    query: ProfileQuery, sources: SourcesDep, now: MomentDep, deadline: DeadlineDep
) -> ReadResult[UserProfile]:
    """Return the public profile of an account: names, counts, description. 用户主页信息."""
    return await read_user(sources, query.sec_user_id, now=now, deadline=deadline)


@users.read(f"{_APP}/fetch_user_post_videos", "Posts of a user", "Page of posts", *_USER_ERRORS)
async def fetch_user_post_videos(
    query: PostsQuery, sources: SourcesDep, now: MomentDep, deadline: DeadlineDep
) -> ReadResult[PostList]:
    """Return the posts of an account, page by page. 用户作品列表.

    `max_cursor` is the platform's own cursor (`pagination_mode` platform_cursor), or a cursor over
    observed posts if the source reads only first screens. `sort_type` sorts each platform page
    separately.
    """
    page = ListPageRequest(
        cursor=query.max_cursor, count=query.count, order=ORDERS[query.sort_type]
    )
    return await read_posts(sources, query.sec_user_id, page, now=now, deadline=deadline)


@users.read(
    f"{_APP}/fetch_user_metrics",
    "Creator metrics",
    "Engagement of the newest videos in the window",
    *_USER_ERRORS,
)
async def fetch_user_metrics(
    query: MetricsQuery, sources: SourcesDep, now: MomentDep, deadline: DeadlineDep
) -> ReadResult[CreatorMetrics]:
    """Return followers, total likes, and likes of the newest videos of the last days. 创作者指标.

    Counts come from the videos' detail pages. If some could not be read in time,
    `statistics_complete` is false; averages without videos are null.
    """
    window = TimeWindow(days=query.days, end=now)
    return await read_metrics(
        sources, query.sec_user_id, window=window, count=query.count, deadline=deadline
    )


@music.read(
    f"{_APP}/fetch_music_video_list",
    "Videos of a music id",
    "Page of the observed union",
    "invalid_music_input",
    *_LIST_ERRORS,
    *DEVICE_ERRORS,
)
async def fetch_music_video_list(
    query: MusicListQuery, sources: SourcesDep, now: MomentDep, deadline: DeadlineDep
) -> ReadResult[CursorList]:
    """Return the public first screen of a track, merged with earlier ones. 音乐作品列表.

    Stored observations are served unless `refresh=true` reads a new first screen. Pages keep
    showing the union as it was at the first page, even if it is refreshed in between.
    """
    page = ListPageRequest(
        cursor=query.cursor, count=query.count, order="public", refresh=query.refresh
    )
    listing = music_list_source(sources, query.music_id, now=now)
    return await listing.read(page, now=now, deadline=deadline)


@hashtags.read(
    f"{_APP}/fetch_hashtag_video_list",
    "Videos of a hashtag",
    "Page of the observed union",
    *_LIST_ERRORS,
)
async def fetch_hashtag_video_list(
    query: HashtagListQuery, sources: SourcesDep, now: MomentDep, deadline: DeadlineDep
) -> ReadResult[CursorList]:
    """Return the public first screen of a hashtag, merged with earlier ones. 话题作品列表.

    `sort_type` 1 and 2 sort by the values that are answered, those of details that were read
    included, unknown ones last. Later pages keep the order of the moment at which pagination began;
    the values in them may be newer.
    """
    page = ListPageRequest(
        cursor=query.cursor,
        count=query.count,
        order=HASHTAG_ORDERS[query.sort_type],
        refresh=query.refresh,
    )
    listing = hashtag_list_source(sources, query.ch_id, now=now)
    return await listing.read(page, now=now, deadline=deadline)
