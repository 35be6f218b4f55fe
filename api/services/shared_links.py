"""Read-only links: one page for readers without a token, signed, limited in time, revocable.

The address holds the signed id of the link and nothing else; what it shows and until when is a row
of the control store. Blocks. Not here: HTTP, who may create links (`api/server/access`).
"""

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from itsdangerous import BadData, URLSafeSerializer

from api.responses.errors import NotFoundError
from api.schemas.extensions.shared_links import (
    SharedLinkDocument,
    SharedLinkList,
    SharedLinkRevoked,
)
from api.schemas.extensions.tracks import TrackPage
from api.services.evidence.service import EvidenceService
from api.services.report.job_report import build_job_report, find_reported_job
from api.services.report.track_report import render_track_report
from api.settings import SHARED_PAGES
from pipelines.documents.videos import to_document
from pipelines.scan.service.service import ScanService
from warehouse.control import ControlStore
from warehouse.control.access import shared_links
from warehouse.control.access.shared_links import SharedLink, SharedLinkKind
from warehouse.control.database import to_time
from warehouse.records.errors import JobNotFoundError, JobResultMissingError, WarehouseError

PATH = "/api/v1/sametrack/shared"
_ID_BYTES = 16


@dataclass(frozen=True, eq=False)
class SharedLinkService:
    """The read-only links of one world.

    Attributes:
        control: Their store.
        scan_service: Finds the results.
        evidence: Finds the compared pairs of a result.
        read_track: Returns what is stored of a music id; raises NotFoundError if nothing is.
        open_signer: Returns what signs ids; it may create the key.
    """

    control: ControlStore
    scan_service: ScanService
    evidence: EvidenceService
    read_track: Callable[[str], TrackPage]
    open_signer: Callable[[], URLSafeSerializer]

    def create(
        self, kind: SharedLinkKind, entity_id: str, *, days: int, created_by: str | None
    ) -> SharedLinkDocument:
        """Create a link that ends after some days. Until then the job of a result is kept.

        Raises:
            JobNotFoundError: There is no such job, or its retention has ended.
            NotFoundError: The job has no ranking, or nothing is stored of the track.
        """
        if kind == "track":
            self.read_track(entity_id)
        else:
            find_reported_job(self.scan_service, entity_id)
        now = to_time(self.control.now())
        assert now is not None, "the clock of the store always has a time"
        link = SharedLink(
            link_id=secrets.token_hex(_ID_BYTES),
            kind=kind,
            entity_id=entity_id,
            created_by=created_by,
            created_at=now,
            expires_at=now + timedelta(days=days),
        )
        shared_links.add(self.control, link)
        return self._document(link)

    def listed(self, kind: SharedLinkKind | None, entity_id: str | None) -> SharedLinkList:
        """Return the links that have not expired, newest first: all, or those of one thing."""
        links = shared_links.newest(self.control, kind=kind, entity_id=entity_id)
        return {
            "links": [self._document(link) for link in links],
            "returned_count": len(links),
            "is_demo_data": self._is_demo,
        }

    def revoke(self, link_id: str) -> SharedLinkRevoked:
        """End a link at once.

        Raises:
            NotFoundError: No link has this id.
        """
        if not shared_links.revoke(self.control, link_id):
            raise NotFoundError(
                "No link has this id: it has expired, or was revoked before",
                hint="List the links to see those that are valid",
            )
        return {"link_id": link_id, "is_revoked": True, "is_demo_data": self._is_demo}

    def page(self, token: str, *, language: Literal["en", "zh"]) -> str | None:
        """Return the page of a link as HTML text; None if there is nothing to show.

        The same for a link that is unknown, revoked or expired, and for what is no longer stored.

        Raises:
            WarehouseUnavailableError: A store cannot be read.
        """
        try:
            link_id = str(self.open_signer().loads(token))
        except BadData:
            link_id = ""  # looked up all the same, which takes as long as for a revoked link
        link = shared_links.find(self.control, link_id)
        if link is None:
            return None
        try:
            page = self._render(link, language)
        except (JobNotFoundError, JobResultMissingError, NotFoundError):
            return None
        # A disk that is full must not keep the page from its reader.
        with suppress(WarehouseError):
            shared_links.record_use(self.control, link_id)
        return page

    def _render(self, link: SharedLink, language: Literal["en", "zh"]) -> str:
        if link.kind == "track":
            return render_track_report(self.read_track(link.entity_id), language=language)
        scan = find_reported_job(self.scan_service, link.entity_id)
        return build_job_report(scan, self.evidence, is_demo=self._is_demo, language=language)

    @property
    def _is_demo(self) -> bool:
        return self.scan_service.world.is_demo

    def _document(self, link: SharedLink) -> SharedLinkDocument:
        return to_document(
            SharedLinkDocument,
            link,
            id=link.entity_id,
            path=f"{SHARED_PAGES}{self.open_signer().dumps(link.link_id)}",
            is_demo_data=self._is_demo,
        )
