"""The prompts of a run: which of the suite's, from which files, and whether they fit its cases."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from proctor import registry
from proctor.core.prompt import check_prompt, needs_prompt
from proctor.core.prompt_template import TemplateError
from proctor.core.suite import CandidatePrompt, Spec, Suite
from proctor.engine.run.settings import RunSettings
from proctor.errors import Problem, SuiteError, UsageError
from proctor.suggestions import suggest

if TYPE_CHECKING:
    from proctor.contracts.dialect import Dialect

FILE_ENDINGS = (".txt", ".md", ".yaml", ".yml", ".json")


def with_prompts(settings: RunSettings, suite: Suite) -> list[RunSettings]:
    """Return the settings of one run for each prompt; answers on file were asked before."""
    prompts = chosen_prompts(settings.prompts, suite)
    if settings.answers is not None:
        if settings.prompts:
            raise UsageError(
                "--prompt says how a candidate is asked, and answers on file were given already"
            )
        return [settings]
    if not prompts:
        return [settings]
    if settings.name and len(prompts) > 1:
        raise UsageError(
            f"--name is for one run, but there are {len(prompts)} prompts (fix: choose one with"
            " --prompt)"
        )
    return [replace(settings, prompt=prompt) for prompt in prompts]


def chosen_prompts(
    chosen: Sequence[str | CandidatePrompt], suite: Suite
) -> tuple[CandidatePrompt, ...]:
    """Return the prompts that were chosen by name or file, or else all that the suite has."""
    if not chosen:
        return suite.prompts
    own = {prompt.name: prompt for prompt in suite.prompts}
    prompts: dict[str, CandidatePrompt] = {}
    for one in chosen:
        named = [one] if isinstance(one, CandidatePrompt) else _named(one, own)
        for prompt in named:
            if prompts.setdefault(prompt.name, prompt) != prompt:
                raise UsageError(f"two prompts have the name {prompt.name!r}")
    return tuple(prompts.values())


def _named(text: str, own: dict[str, CandidatePrompt]) -> Sequence[CandidatePrompt]:
    if text in own:
        return [own[text]]
    path = Path(text)
    if path.suffix.lower() in FILE_ENDINGS or path.is_file():
        native: Dialect = registry.build("dialect", Spec(name="native"))
        return native.prompts(path)
    there = suggest(text, own) if own else "the suite has none; name a file, such as ask.txt"
    raise UsageError(f"there is no prompt {text!r} ({there})")


def check_asking(settings: RunSettings, suite: Suite) -> None:
    """Raise what is wrong with the prompt of a run, or that there is none for cases in need."""
    if settings.on_file:
        return
    if settings.prompt is not None:
        check_fit(settings.prompt, suite)
        return
    if (case := next(filter(needs_prompt, suite.cases), None)) is not None:
        raise UsageError(
            f"the case {case.id!r} has several vars and no 'ask', and there is no prompt that says"
            " how to ask it (fix: write 'prompts' in the suite, or add --prompt FILE)"
        )


def check_fit(prompt: CandidatePrompt, suite: Suite) -> None:
    """Raise a SuiteError, with the place, where a prompt names what a case does not have."""
    try:
        check_prompt(prompt, suite)
    except TemplateError as error:
        file, _, line = prompt.place.rpartition(":")
        in_suite = bool(file) and line.isdigit()
        where = f" (line {error.line}, column {error.column} of the template)" if in_suite else ""
        raise SuiteError(
            [
                Problem(
                    message=f"{error.message}: the prompt {prompt.name!r} names it{where}",
                    file=file if in_suite else prompt.place or None,
                    line=int(line) if in_suite else error.line,
                    column=None if in_suite else error.column,
                    excerpt="" if in_suite else error.excerpt,
                    hint=error.hint,
                )
            ]
        ) from None
