"""The error tree. Each cause has a class, and each class has one stable name on the wire (`type`).

SametrackError
├── InputError
│   ├── InvalidParameterError      InvalidMusicInputError   UnresolvedIdError
│   │   └── NothingToReportError
│   └── InvalidDateRangeError      InvalidInputsError       InvalidVideoIdsError
├── UpstreamError                  what a public surface answered instead of data
│   ├── EmptyAnswerError           PageWithoutDataError     VerificationDemandedError
│   ├── LoginRequiredError         ForbiddenError           RateLimitedError
│   ├── RegionBlockedError         SubstitutionError        StructureChangedError
│   ├── UnreachableError           BudgetSpentError         RefusedLatelyError
│   ├── SignatureDemandedError
│   ├── DeviceUnavailableError     AppUnreadableError       of the operator's own device
│   └── AudioUnavailableError      ChartUnavailableError
├── ProviderUnsupportedError       ProfileNotChosenError     RunCancelledError
├── JobNotFoundError               WorkerUnavailableError   CapacityExhaustedError
├── WorldTooEasyError              the sandbox is too easy to prove anything
└── WarehouseError
    ├── WarehouseUnavailableError  StoreTooNewError         WrongWorldError
    └── ContractBrokenError        a row does not match its table

HTTP status codes are in `api/responses/errors.py`, the retry policy is in
`pipelines/platform/http/client.py`.
"""

from typing import ClassVar

SURFACE_OFF = "surface_off"
"""The `reason` of an upstream error: our own profile patch switches the surface off."""


class SametrackError(Exception):
    """Base class of every error that Sametrack raises on purpose.

    Args:
        detail: What was wrong, with the offending value. Never an upstream body or a path.
        hint: What the caller can do next.
        retry_after: Seconds after which the same call may succeed, where known.
    """

    type: ClassVar[str] = "internal_error"

    def __init_subclass__(cls, *, wire_type: str | None = None) -> None:
        """Give a class its `type`; one without a `wire_type` has that of its base."""
        if wire_type is not None:
            cls.type = wire_type

    def __init__(
        self, detail: str, *, hint: str | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.hint = hint
        self.retry_after = retry_after
        if hint is not None:
            self.add_note(f"Hint: {hint}")  # notebooks and consoles show it below the error

    @property
    def stop_reason(self) -> str:
        """Why reading stopped that this error ended."""
        return self.type

    def to_document(self) -> dict[str, object]:
        """Return the `error` object of responses and failed jobs. Subclasses fill in `upstream`."""
        return {
            "type": self.type,
            "detail": self.detail,
            "hint": self.hint,
            "retry_after": self.retry_after,
            "upstream": None,
        }


class InputError(SametrackError, wire_type="invalid_parameter"):
    """The caller's input cannot be used."""


class InvalidParameterError(InputError):
    """A parameter has the wrong type or is out of range."""


class NothingToReportError(InvalidParameterError):
    """Too little was seen until the moment of a report, whatever its parameters are."""


class InvalidMusicInputError(InputError, wire_type="invalid_music_input"):
    """The input is no music id, no track link and no link of a video that uses a track."""


class UnresolvedIdError(InputError, wire_type="unresolvable_sec_user_id"):
    """No `sec_user_id` can be read from the input."""


class InvalidInputsError(InputError, wire_type="invalid_inputs"):
    """The list of a batch is missing, empty, too long or contains something other than text."""


class InvalidVideoIdsError(InputError, wire_type="invalid_video_ids"):
    """The body is not a top-level list of video ids, or the list has the wrong size."""


class InvalidDateRangeError(InputError, wire_type="invalid_date_range"):
    """The dates of a chart query do not form a range the chart has."""


class UpstreamError(SametrackError, wire_type="upstream_unreachable"):
    """A public surface returned no data.

    Args:
        surface: Surface of the platform, for example `music_list`.
        reason: The platform's own word for the reason, where it gave one.
        status: HTTP status of the response, where there was one.
    """

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

    @property
    def stop_reason(self) -> str:
        """The type; for a surface that our own profile patch switches off, that reason."""
        return SURFACE_OFF if self.reason == SURFACE_OFF else self.type

    def to_document(self) -> dict[str, object]:
        """Return the `error` object with the details of the surface."""
        upstream = {"surface": self.surface, "reason": self.reason, "status": self.status}
        return super().to_document() | {"upstream": upstream}


class EmptyAnswerError(UpstreamError, wire_type="upstream_empty"):
    """HTTP 200 with an empty body, or with the single word `blocked`."""


class PageWithoutDataError(UpstreamError, wire_type="upstream_page_without_data"):
    """The page is an empty shell: it has the data container but no data."""


class VerificationDemandedError(UpstreamError, wire_type="upstream_verification"):
    """A captcha page, a script challenge or `verify_check`. Sametrack stops and never solves it."""


class LoginRequiredError(UpstreamError, wire_type="upstream_login_required"):
    """The surface requires an account, and Sametrack has none."""


class SignatureDemandedError(UpstreamError, wire_type="upstream_signature_demanded"):
    """The surface answers signed requests only. Sametrack never signs one."""


class ForbiddenError(UpstreamError, wire_type="upstream_forbidden"):
    """HTTP 403."""


class RateLimitedError(UpstreamError, wire_type="upstream_rate_limited"):
    """HTTP 429; `retry_after` is how long the platform asks clients to wait."""


class RegionBlockedError(UpstreamError, wire_type="upstream_region_blocked"):
    """The platform redirects this region elsewhere."""


class SubstitutionError(UpstreamError, wire_type="upstream_substitution"):
    """The response is about another item than requested, or a redirect left the platform."""


class StructureChangedError(UpstreamError, wire_type="upstream_structure_changed"):
    """Keys or types differ from the known ones; `reason` lists the keys found."""


class UnreachableError(UpstreamError):
    """Timeout, connection reset, DNS failure or 5xx."""


class BudgetSpentError(UpstreamError, wire_type="upstream_budget_spent"):
    """The daily request budget for this host is used up."""


class RefusedLatelyError(UpstreamError, wire_type="upstream_refused_lately"):
    """Every surface that could answer refused lately, and none is due for a probe: none was asked.

    `reason` is the kind of the latest refusal.
    """


class DeviceUnavailableError(UpstreamError, wire_type="mobile_device_unavailable"):
    """The Android device that the operator named cannot be used; `reason` says why."""


class AppUnreadableError(UpstreamError, wire_type="mobile_app_unreadable"):
    """The app on the device is missing, or the screens of its version are not known."""


class AudioUnavailableError(UpstreamError, wire_type="audio_unavailable"):
    """No audio could be read for any video that had to be verified."""


class ChartUnavailableError(UpstreamError, wire_type="chart_unavailable"):
    """The chart host answered, but without a chart."""


class ProviderUnsupportedError(SametrackError, wire_type="provider_unsupported"):
    """The selected provider does not support this request."""


class ProfileNotChosenError(SametrackError, wire_type="profile_not_chosen"):
    """No platform profile is selected, so nothing may be contacted."""


class RunCancelledError(SametrackError, wire_type="cancelled"):
    """The job of this run was cancelled. Not a fault."""


class JobNotFoundError(SametrackError, wire_type="job_not_found"):
    """No job has this id, or its retention period is over."""


class WorkerUnavailableError(SametrackError, wire_type="worker_unavailable"):
    """No live worker can run the request."""


class CapacityExhaustedError(SametrackError, wire_type="capacity_exhausted"):
    """The queue or the disk is too full to accept more."""


class WorldTooEasyError(SametrackError):
    """A sandbox is easier than its minimum difficulty; a result against it would prove nothing."""


class WarehouseError(SametrackError, wire_type="warehouse_unavailable"):
    """The warehouse cannot serve the request."""


class WarehouseUnavailableError(WarehouseError):
    """The warehouse or the control store cannot be opened, read or written."""


class JobResultMissingError(WarehouseUnavailableError):
    """The warehouse can be read, but has no result of a completed job: to repeat is no use."""


class StoreTooNewError(WarehouseError):
    """A newer version of Sametrack wrote the store."""


class WrongWorldError(WarehouseError):
    """The store belongs to another profile; profiles never share a store."""


class ContractBrokenError(WarehouseError, wire_type="internal_error"):
    """A row does not match its table: a column is missing, unknown or of another type."""
