"""Checks Dagster's UI, and the code server through it. Does not import Dagster."""

import httpx2

from pipelines.doctor.check_results import CheckResult
from pipelines.doctor.checks.machine import LOOPBACK, is_listening

START_ADVICE = (
    "`sametrack up` starts it; scans from the command line do not need it. "
    "If it has another port, name it in DAGSTER_URL"
)
TOKEN_ADVICE = "set OWN_API_TOKEN to a valid token to check the code server"  # noqa: S105 -- a hint
_ANSWER_S = 3.0
_LOCATIONS = """{ locationStatusesOrError {
  ... on WorkspaceLocationStatusEntries { entries { name loadStatus } } } }"""


def check_code_server(port: int, *, token: str | None = None) -> CheckResult:
    """Check that the UI answers and that its code location is loaded.

    Args:
        port: Port of the UI on loopback.
        token: Sent with the request, if the installation requires one.
    """
    if not is_listening(port):
        return CheckResult("dagster ui", "warn", f"nothing listens on port {port}", START_ADVICE)
    try:
        answer = httpx2.post(
            f"http://{LOOPBACK}:{port}/graphql",
            json={"query": _LOCATIONS},
            headers={} if token is None else {"x-api-key": token},
            timeout=_ANSWER_S,
            trust_env=False,
        )
        if answer.status_code == httpx2.codes.UNAUTHORIZED:
            return CheckResult("dagster ui", "warn", f"port {port} requires a token", TOKEN_ADVICE)
        found = answer.raise_for_status().json()["data"]["locationStatusesOrError"]["entries"]
    except (httpx2.HTTPError, ValueError, KeyError, TypeError) as error:
        says = f"port {port} gives no valid response ({type(error).__name__})"
        return CheckResult("dagster ui", "warn", says, "see `logs` in the data home")
    loaded = [entry["name"] for entry in found if entry["loadStatus"] == "LOADED"]
    if not loaded:
        says = f"answers on port {port}; the code server does not"
        return CheckResult(
            "dagster ui", "warn", says, "see `logs/code-server.log` in the data home"
        )
    return CheckResult(
        "dagster ui", "ok", f"answers on port {port}; code server: {', '.join(loaded)}"
    )
