"""The page of a judge's audit: its noise, its biases, and its agreement with people."""

from typing import Any

from pydantic import Field
from starlette.requests import Request

from proctor.engine.audit.probes import NAMES, PAIRED, PROBES
from proctor.engine.run.later_findings import newest_audit, noise_floor
from proctor.engine.run.stored_view import view_of
from proctor.reports.audit import audit_object
from proctor.web.api.endpoint import RUN, Endpoint, Operation
from proctor.web.api.response import Named, Page, ResponseModel
from proctor.web.lookup import or_missing, the_run
from proctor.web.store_pool import opened


class AuditPage(ResponseModel):
    """The newest audit of a run's judge, as `proctor audit --json` prints it."""

    run: Named
    audit: dict[str, Any] | None = Field(description="None where there was no audit")


def show_audit(request: Request) -> Page[AuditPage]:
    """Return what the newest audit of a run's judge found out."""
    with opened(request) as store, or_missing():
        run = the_run(store, request)
        audit = newest_audit(store, run.id)
        audit_data = None
        if audit is not None:
            audit_data = audit_object(audit, noise_floor(view_of(store, run.id), audit))
    data = AuditPage(run=Named.of(run), audit=audit_data)
    words = {**{name: probe.words for name, probe in PROBES.items()}, **PAIRED}
    return Page(template="audit", data=data, only_page={"words": words, "named_probes": NAMES})


routes = [
    Endpoint(
        "/runs/{run}/audit",
        show_audit,
        Operation(summary="The newest audit of a run's judge", parameters=[RUN], wrong=(404,)),
        twin="/runs/{run}/audit.json",
    ),
    Endpoint("/runs/{run}/audit.json", show_audit),
]
