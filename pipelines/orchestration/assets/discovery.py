"""The asset of a discovery: related videos of a track, each with its outcome."""

from dagster import AssetKey, MaterializeResult, ResourceParam

from pipelines.orchestration.assets.collect import TRACK
from pipelines.orchestration.assets.conclude import AUDIO_COMPARISONS
from pipelines.orchestration.assets.decorators import Result, scan_asset
from pipelines.orchestration.assets.metadata import coverage_metadata, track_metadata
from pipelines.orchestration.runs.current_scan import CurrentScan
from pipelines.scan import discover
from pipelines.scan import marts as mart_rows
from warehouse.lake.packing import pack_document

VIDEOS = AssetKey(["raw", "videos"])
DISCOVERED = AssetKey(["marts", "discovered_videos"])


@scan_asset(DISCOVERED, deps=[TRACK, AUDIO_COMPARISONS, VIDEOS], group="discovery")
def discovered_videos(scan: ResourceParam[CurrentScan]) -> Result:
    """Related videos of a track: its authors' first screens and the text candidates on them."""
    with scan.stage("track") as session:
        document = discover.discover(session)
        rows = discover.discovered_rows(session, document)
        session.append("discovered_videos", rows)
        mart_rows.append_marts(session, mart_rows.confirmation_rows(session))
        session.finish_appends()  # the result is last: readers of it find all other rows
        session.append("job_results", [mart_rows.result_row(session, pack_document(document))])
        session.finish_appends()
        counts = {"dagster/row_count": len(rows), **document["layer_counts"]}
        assert session.state.track is not None, "a discovery without a track fails earlier"
        about = track_metadata(session, session.state.track)
        return MaterializeResult(metadata={**counts, **about, **coverage_metadata(session)})
