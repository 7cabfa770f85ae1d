"""What `assay serve` puts on the server: one deployment for each thing that can be started there.

Entrypoints are dotted names, so that they are found wherever Assay is installed.
"""

from collections.abc import Awaitable, Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from prefect import Flow
from prefect.deployments.runner import RunnerDeployment
from prefect.types.entrypoint import EntrypointType

from flows.scheduled import SCHEDULE, assay_schedule
from flows.served import TAG, assay_code, assay_recovery, assay_resume, assay_run

RESEARCH, CODE = "assay-run/research", "assay-code/paper2code"
RESUME, RECOVERY = "assay-resume/resume", "assay-recovery/recovery"
_SERVED: dict[str, Flow[..., Any]] = {
    RESEARCH: assay_run,
    CODE: assay_code,
    RESUME: assay_resume,
    RECOVERY: assay_recovery,
    SCHEDULE: assay_schedule,
}


async def deployments() -> list[RunnerDeployment]:
    """Return the deployments, not yet known to any server."""
    return [await deployment_of(flow, name) for name, flow in _SERVED.items()]


async def deployment_of(flow: Flow[..., Any], name: str, **options: Any) -> RunnerDeployment:
    """Return a deployment of `flow` called `flow/name`; `options` as in `Flow.to_deployment`."""
    made: Callable[..., Awaitable[RunnerDeployment]] = flow.ato_deployment
    deployment = await made(
        name.rpartition("/")[2],
        tags=[TAG],
        version=_version(),
        entrypoint_type=EntrypointType.MODULE_PATH,
        **options,
    )
    # Said outright, so that a deployment to a work pool of the same name is taken over.
    deployment.work_pool_name = None
    deployment.work_queue_name = None
    return deployment


def _version() -> str | None:
    try:
        return version("assay-research")
    except PackageNotFoundError:
        return None  # run from its sources
