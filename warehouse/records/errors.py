"""The one error tree. A cause has a class, and a class has one stable word (`type`).

SametrackError
├── InputError
│   ├── InvalidParameterError      InvalidMusicInputError   UnresolvedIdError
│   └── InvalidDateRangeError      InvalidInputsError       InvalidVideoIdsError
├── UpstreamError                  what a public surface answered instead of data
│   ├── EmptyAnswerError           PageWithoutDataError     VerificationDemandedError
│   ├── LoginRequiredError         ForbiddenError           RateLimitedError
│   ├── RegionBlockedError         SubstitutionError        StructureChangedError
│   ├── UnreachableError           BudgetSpentError
│   ├── DeviceUnavailableError     AppUnreadableError       of the operator's own device
│   └── AudioUnavailableError      ChartUnavailableError
├── ProviderUnsupportedError       ProfileNotChosenError     RunCancelledError
├── JobNotFoundError               WorkerUnavailableError   CapacityExhaustedError
├── WorldTooEasyError              an invented world would prove nothing
└── WarehouseError
    ├── WarehouseUnavailableError  StoreTooNewError         WrongWorldError
    └── ContractBrokenError        a row does not fit its table

What belongs here: names and the words that travel with them. Not here: HTTP status codes
(`api/responses/errors.py`), retry policy (`pipelines/platform/http/client.py`).
"""

from typing import ClassVar


class SametrackError(Exception):
    """Root of everything that Sametrack raises on purpose.

    Args:
        detail: What was wrong, with the value it was wrong with. Never an upstream body or a path.
        hint: What the reader can do next.
        retry_after: Seconds after which the same call may succeed, where known.
    """

    type: ClassVar[str] = "internal_error"

    def __init__(
        self, detail: str, *, hint: str | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.hint = hint
        self.retry_after = retry_after

    def to_document(self) -> dict[str, object]:
        """The `error` that answers and failed jobs carry; `upstream` is filled in below."""
        return {
            "type": self.type,
            "detail": self.detail,
            "hint": self.hint,
            "retry_after": self.retry_after,
            "upstream": None,
        }


class InputError(SametrackError):
    """What the caller gave cannot be used."""

    type = "invalid_parameter"


class InvalidParameterError(InputError):
    """A parameter has the wrong type or lies outside its limits."""


class InvalidMusicInputError(InputError):
    """Neither a music id, nor a link to a track, nor a link of a video that uses one."""

    type = "invalid_music_input"


class UnresolvedIdError(InputError):
    """No `sec_user_id` can be read from what was given."""

    type = "unresolvable_sec_user_id"


class InvalidInputsError(InputError):
    """The list of a batch is missing, empty, too long or holds something else than text."""

    type = "invalid_inputs"


class InvalidVideoIdsError(InputError):
    """Not a top-level list of the allowed size of video ids."""

    type = "invalid_video_ids"


class InvalidDateRangeError(InputError):
    """The dates of a chart query do not make a range that the chart has."""

    type = "invalid_date_range"


class UpstreamError(SametrackError):
    """A public surface gave no data. `type` is also the stop reason that a job reports.

    Args:
        surface: Which surface of the platform, for example `music_list`.
        reason: The platform's own word for it, where it gave one.
        status: HTTP status of the answer, where there was one.
    """

    type = "upstream_unreachable"

    def __init__(
        self,
        detail: str,
        *,
        surface: str,
        reason: str | None = None,
        status: int | None = None,
        hint: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(detail, hint=hint, retry_after=retry_after)
        self.surface = surface
        self.reason = reason
        self.status = status

    def to_document(self) -> dict[str, object]:
        """The same with what the surface answered."""
        upstream = {"surface": self.surface, "reason": self.reason, "status": self.status}
        return super().to_document() | {"upstream": upstream}


class EmptyAnswerError(UpstreamError):
    """HTTP 200 with nothing in it, or the bare word `blocked`."""

    type = "upstream_empty"


class PageWithoutDataError(UpstreamError):
    """The page came as a shell: its data container is there, the data is not."""

    type = "upstream_page_without_data"


class VerificationDemandedError(UpstreamError):
    """A captcha page, a script challenge or `verify_check`. We stop; we never solve it."""

    type = "upstream_verification"


class LoginRequiredError(UpstreamError):
    """The surface wants an account. We have none and want none."""

    type = "upstream_login_required"


class ForbiddenError(UpstreamError):
    """HTTP 403."""

    type = "upstream_forbidden"


class RateLimitedError(UpstreamError):
    """HTTP 429; `retry_after` says how long the platform asked us to wait."""

    type = "upstream_rate_limited"


class RegionBlockedError(UpstreamError):
    """The platform sends this region elsewhere."""

    type = "upstream_region_blocked"


class SubstitutionError(UpstreamError):
    """Another item came than was asked for, or a redirect led off the platform."""

    type = "upstream_substitution"


class StructureChangedError(UpstreamError):
    """Keys or types are not as known; the keys seen are in `reason`."""

    type = "upstream_structure_changed"


class UnreachableError(UpstreamError):
    """Time-out, reset, DNS failure or 5xx."""


class BudgetSpentError(UpstreamError):
    """Our own daily budget for this host is used up."""

    type = "upstream_budget_spent"


class DeviceUnavailableError(UpstreamError):
    """The Android device that the operator named cannot be used; `reason` says why."""

    type = "mobile_device_unavailable"


class AppUnreadableError(UpstreamError):
    """The app on the device is missing, or the screens of its version are not known."""

    type = "mobile_app_unreadable"


class AudioUnavailableError(UpstreamError):
    """No sound could be read for anything that had to be heard."""

    type = "audio_unavailable"


class ChartUnavailableError(UpstreamError):
    """The chart host answered, but not with a chart."""

    type = "chart_unavailable"


class ProviderUnsupportedError(SametrackError):
    """The chosen provider cannot answer this question."""

    type = "provider_unsupported"


class ProfileNotChosenError(SametrackError):
    """No platform profile is chosen, so nothing may be contacted."""

    type = "profile_not_chosen"


class RunCancelledError(SametrackError):
    """Somebody asked for the end of the job that this is done for. Not a fault."""

    type = "cancelled"


class JobNotFoundError(SametrackError):
    """No job has this id, or its retention is over."""

    type = "job_not_found"


class WorkerUnavailableError(SametrackError):
    """No worker is alive to run what was asked for."""

    type = "worker_unavailable"


class CapacityExhaustedError(SametrackError):
    """Too much is queued, or the disk is too full, to take on more."""

    type = "capacity_exhausted"


class WorldTooEasyError(SametrackError):
    """An invented world is easier than its floors; a result against it would prove nothing."""

    type = "internal_error"


class WarehouseError(SametrackError):
    """The warehouse cannot do what was asked."""

    type = "warehouse_unavailable"


class WarehouseUnavailableError(WarehouseError):
    """The warehouse or the control store cannot be opened, read or written."""


class StoreTooNewError(WarehouseError):
    """The store was written by a newer Sametrack than this one."""


class WrongWorldError(WarehouseError):
    """The store belongs to another profile; worlds never mix."""


class ContractBrokenError(WarehouseError):
    """A row does not fit its table: a column is missing, unknown or of another type."""

    type = "internal_error"
