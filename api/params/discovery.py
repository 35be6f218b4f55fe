"""Query of the discovery (endpoint 9). `DISCOVERY_PARAMETERS` has its limits."""

from pydantic import Field, StrictBool, StrictFloat, StrictInt

from api.params import fields, scan
from pipelines.captures.inputs import ACCEPTED_INPUT_HINT
from pipelines.parameters.scan import parameter_table
from pipelines.scan.rules.discovery import DISCOVERY_PARAMETERS, DiscoveryParameters

DISCOVERY = parameter_table(*DISCOVERY_PARAMETERS)


class DiscoveryQuery(fields.QueryModel):
    """Query of `discover_music_related_videos`."""

    music_id: fields.InputText | None = Field(None, description=ACCEPTED_INPUT_HINT)
    url: fields.InputText | None = Field(None, description=scan.ALIAS_OF_MUSIC_ID)
    author_limit: StrictInt = fields.parameter_field("author_limit", DISCOVERY)
    candidate_limit: StrictInt = fields.parameter_field("candidate_limit", DISCOVERY)
    match_threshold: StrictFloat = fields.parameter_field("match_threshold", DISCOVERY)
    verify_audio: StrictBool = fields.parameter_field("verify_audio", DISCOVERY)
    viral_threshold: StrictInt = fields.parameter_field("viral_threshold", DISCOVERY)

    @property
    def music_input(self) -> str:
        """The music input, under whichever of its names it was passed."""
        return scan.single_input(music_id=self.music_id, url=self.url)

    def to_parameters(self) -> DiscoveryParameters:
        """Return the effective parameters."""
        return DiscoveryParameters(**{name: getattr(self, name) for name in DISCOVERY})
