"""The routes, one file per group of operations. A body is: parse, call, wrap."""

from api.routes import chart, discovery, health, jobs, lists, music, search, users, videos
from api.routes.extensions import (
    annotations,
    chart_platform,
    console,
    doctor,
    evidence,
    reference,
    watchlists,
)
from api.routes.extensions import exports as taking

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
    annotations.writing,
    annotations.router,
    doctor.router,
    reference.extensions,
    taking.router,
    taking.exporting,
    watchlists.writing,
    watchlists.router,
    watchlists.listing,
    chart_platform.writing,
    chart_platform.router,
    chart_platform.listing,
    health.router,
    reference.router,
    console.router,
)
