"""``run --junit --markdown``: files about the runs of a command."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click

if TYPE_CHECKING:
    from proctor.contracts.report import RunView
    from proctor.core.grid import RunGrid
    from proctor.engine.compare.against import Against
    from proctor.engine.run.gates import GateResult
    from proctor.reports.pull_request import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFiles:
    """Files that a command writes about its runs, for build servers and pull requests."""

    junit: Path | None
    markdown: Path | None
    links: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, options: dict[str, Any]) -> Self:
        """Take the files out of a command's options."""
        links = [_link(text) for text in options.pop("links")]
        return cls(junit=options.pop("junit"), markdown=options.pop("markdown"), links=tuple(links))

    def write(
        self,
        views: "Sequence[RunView]",
        gates: "Sequence[Sequence[GateResult]]",
        earlier: "Sequence[Against | None]",
        *,
        grid: "RunGrid | None" = None,
        quiet: bool,
    ) -> None:
        """Write the files that were asked for, and print where they are."""
        if self.junit is None and self.markdown is None:
            return
        gate_rows = [[result.to_json() for result in results] for results in gates]
        texts: list[tuple[Path, str]] = []
        if self.junit is not None:
            from proctor.reports.junit import junit_xml

            texts.append((self.junit, junit_xml(views, gate_rows)))
        if self.markdown is not None:
            from proctor.reports.pull_request import SummarizedRun, pull_request_summary

            runs = [
                SummarizedRun(view=view, gates=rows, verdict=_verdict(against))
                for view, rows, against in zip(views, gate_rows, earlier, strict=True)
            ]
            texts.append((self.markdown, pull_request_summary(runs, self.links, grid)))
        for path, text in texts:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            if not quiet:
                click.echo(f"wrote {path}", err=True)


def _verdict(against: "Against | None") -> "Verdict | None":
    if against is None:
        return None
    from proctor.reports.pull_request import ChangedCase, Verdict

    return Verdict(
        sentence=against.sentence,
        warnings=against.warnings,
        worse_count=0 if against.contrast is None else against.contrast.paired.worse,
        worse=[
            ChangedCase(
                id=case.id, before=case.first, after=case.second, full=case.full, why=case.why
            )
            for case in against.worse
        ],
    )


def _link(text: str) -> tuple[str, str]:
    title, sign, address = text.partition("=")
    if (
        not sign
        or not address.startswith(("https://", "http://"))
        or any(c in address for c in "<> ")
    ):
        raise click.UsageError(
            f"--link: expected TITLE=URL, as in Report=https://example.org/report, not {text!r}"
        )
    return title.strip(), address
