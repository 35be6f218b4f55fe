"""Read the profiles of the accounts behind the confirmed videos.

Not here: the account summary (`marts/sql_models.py`).
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial

from pydantic import TypeAdapter

from pipelines.scan.collect import add_reads, ending_error, read_until_refused
from pipelines.scan.rules.expansion import accounts_by_likes
from pipelines.scan.scan_run import ScanRun
from warehouse.queries.results import read_latest_accounts
from warehouse.records.errors import UnresolvedIdError, UpstreamError
from warehouse.records.videos import Account

_ACCOUNTS = TypeAdapter(dict[str, Account])
PROFILE_MAX_AGE = timedelta(minutes=10)  # a stored profile that is older is read again


def read_profiles(session: ScanRun) -> int:
    """Read the profiles of the first accounts of the result; return how many are known.

    An account that the platform does not show stays without a profile. An upstream refusal ends
    the reading and becomes the stop reason; the remaining accounts are reported as not reached.
    """
    found = session.state
    accounts = confirmed_accounts(session)
    wanted = wanted_profiles(session)
    oldest = session.clock() - PROFILE_MAX_AGE
    found.profiles = session.journal.once(
        "known_accounts", _ACCOUNTS, partial(_known_accounts, session, wanted, oldest)
    )
    before, recalled = session.captures.requests_used, len(found.profiles)
    error = session.run(_read(session, [uid for uid in wanted if uid not in found.profiles]))
    new = len(found.profiles) - recalled
    whole = "completed" if len(wanted) == len(accounts) else "account_profile_limit"
    stop = error.stop_reason if error else whole
    found.profiles_end = stop
    add_reads(session, "user_info", since=before, items=new, new=new, stop=stop)
    session.count()
    return len(found.profiles)


def confirmed_accounts(session: ScanRun) -> tuple[str, ...]:
    """Return the accounts behind the confirmed videos, those with most linked likes first."""
    return accounts_by_likes([entry.video for entry in session.state.confirmed.values()])


def wanted_profiles(session: ScanRun) -> tuple[str, ...]:
    """Return the accounts whose profiles the scan reads."""
    return confirmed_accounts(session)[: session.parameters.account_profile_limit]


def _known_accounts(
    session: ScanRun, wanted: Sequence[str], oldest: datetime
) -> dict[str, Account]:
    """Return recent profiles; those that this scan has read meanwhile are not among them.

    With `refresh`, all are read anew.
    """
    if session.parameters.refresh:
        return {}
    known = read_latest_accounts(session.runtime.engine, wanted)
    return {uid: seen for uid, seen in known.items() if seen.observed_at >= oldest}


async def _read(session: ScanRun, sec_uids: Iterable[str]) -> UpstreamError | None:
    """Read the given profiles; return the error that ended the reading, else the last error."""
    found = session.state

    def skip(sec_uid: str, _error: UpstreamError) -> None:
        found.not_reached.append(f"user_info:{sec_uid}")

    async def read(sec_uid: str) -> UpstreamError | None:
        error = None
        try:
            with session.stopwatch.waiting("upstream"):
                found.profiles[sec_uid] = await session.captures.account(sec_uid)
        except UnresolvedIdError:
            pass  # the account no longer exists: there is nothing to read
        except UpstreamError as met:
            error = met
            skip(sec_uid, error)
        session.count()
        return error

    errors = await read_until_refused(session, sec_uids, read, skip)
    return ending_error(errors) or next(reversed(errors), None)
