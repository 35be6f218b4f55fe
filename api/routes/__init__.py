"""Routes, one module per group of operations. A handler parses, calls a service and wraps the
result.
"""

from starlette.routing import Route

from api.routes import chart, health, jobs, music, search, users_and_lists, videos
from api.routes.extensions import (
    catalogs,
    chart_platform,
    doctor,
    entities,
    evidence,
    exports,
    pages,
    reports,
    shared_links,
    sql,
    tracks,
    watchlists,
)

# in the order of the description
ROUTERS = (
    music.router,
    jobs.router,
    search.router,
    videos.web_videos,
    videos.app_videos,
    chart.router,
    users_and_lists.users,
    users_and_lists.music,
    users_and_lists.hashtags,
    jobs.extensions,
    tracks.router,
    evidence.router,
    doctor.router,
    pages.reference,
    exports.router,
    entities.router,
    reports.router,
    exports.exporting,
    shared_links.router,
    sql.router,
    watchlists.router,
    catalogs.router,
    chart_platform.router,
    health.router,
    pages.router,
)


def allowed_methods(path: str) -> str | None:
    """Return the `Allow` header of a path; None if no route has it.

    Methods of one path may belong to several routes, of which the framework names only the first.
    """
    methods = {
        method
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, Route) and route.path_regex.fullmatch(path)
        for method in route.methods or ()
    }
    return ", ".join(sorted(methods)) or None
