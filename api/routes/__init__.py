"""The routes, one file per group of operations. A body is: parse, call, wrap."""

from api.routes import (
    annotations,
    chart,
    console,
    discovery,
    doctor,
    evidence,
    health,
    jobs,
    later,
    music,
    reference,
    search,
    videos,
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
    later.router,
    jobs.extensions,
    evidence.router,
    annotations.writing,
    annotations.router,
    doctor.router,
    reference.extensions,
    health.router,
    reference.router,
    console.router,
)
