"""Routes, one module per group of operations. A handler parses, calls a service and wraps the
result.
"""

from starlette.routing import Route

from api.routes import chart, discovery, health, jobs, lists, music, search, users, videos
from api.routes.extensions import (
    annotations,
    catalogs,
    chart_platform,
    console,
    doctor,
    evidence,
    exports,
    notes,
    pictures,
    reference,
    sql,
    watchlists,
)

ROUTERS = (
    music.router,
    music.writing,
    discovery.router,
    jobs.writing,
    jobs.router,
    search.router,
    videos.web,
    videos.app,
    chart.router,
    users.router,
    lists.music,
    lists.hashtags,
    jobs.extensions,
    evidence.router,
    evidence.files,
    annotations.writing,
    annotations.router,
    doctor.router,
    reference.extensions,
    exports.router,
    pictures.router,
    notes.listing,
    notes.writing,
    exports.exporting,
    sql.router,
    sql.statements,
    watchlists.writing,
    watchlists.router,
    watchlists.listing,
    catalogs.writing,
    catalogs.router,
    catalogs.listing,
    chart_platform.writing,
    chart_platform.router,
    chart_platform.listing,
    health.router,
    reference.router,
    console.router,
)


def allowed_methods(path: str) -> str | None:
    """Return the `Allow` header of a path; None if no route has it.

    Methods of one path may belong to several routes, of which the framework names only the first.
    """
    found = {
        method
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, Route) and route.path_regex.fullmatch(path)
        for method in route.methods or ()
    }
    return ", ".join(sorted(found)) or None
