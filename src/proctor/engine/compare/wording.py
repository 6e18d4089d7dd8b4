"""What a comparison says, in a sentence that a person understands: in English and in Chinese."""

from collections.abc import Mapping
from math import floor, log10
from typing import Literal

from proctor.core.names import clusters_text
from proctor.engine.compare.results import Contrast
from proctor.engine.compare.verdict import GroupContrast, Verdict

Language = Literal["en", "zh"]

_WORDS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "better": "{second} is better than {first}: {numbers}; {flips}.",
        "worse": "{second} is worse than {first}: {numbers}; {flips}.",
        "no_worse": "{second} is no worse than {first} by {margin} points: {numbers}; {flips}.",
        "equal": "{second} and {first} are equal within {margin} points: {numbers}; {flips}.",
        "unclear": "{second} and {first} cannot be told apart: {numbers}; {flips}. {power}",
        "nothing": "{second} and {first} cannot be compared: {cases} in both of them.",
        "numbers": "{difference} points of 100, 95 % interval {low} to {high}, {p}, {cases}",
        "together": "{difference} points of 100, interval {low} to {high} (95 % for all {tested}"
        " rows together), {p}, {cases}",
        "evidence": "evidence {odds}:1 after {cases}, {difference} points of 100,"
        " interval {low} to {high} at any time",
        "stop": "You may stop.",
        "go on": "Evidence of {sure}:1 would be enough.",
        "flips": "{to_right} went from wrong to right, {to_wrong} the other way",
        "graded": "{better} got better, {worse} got worse (from wrong to right {to_right}, the"
        " other way {to_wrong})",
        "none": "not one case came out differently",
        "more": "To be sure of a difference of this size would take about {more} more {noun}"
        " like these.",
        "between": "To be sure of a difference of about this size would take {few} to {many} more"
        " cases like these.",
        "least": "To be sure of a difference of about this size would take at least {few} more"
        " {noun} like these, and far more if it is smaller.",
        "same": "Only a difference of {detectable} points or more would have shown with so many"
        " cases.",
        "too few": "No difference at all would have shown with so few cases.",
        "never": "A difference so small would take more cases than anybody has.",
        "turn": "What is unscored could turn this around: the difference lies within {low} to"
        " {high}.",
        "smaller": "The difference that shows is smaller than the margin.",
        "one case": "1 case",
        "cases": "{count} cases",
        "clustered": "{cases} in {clusters}",
        "clusters": "{clusters}",
        "no cases": "no case counts",
        "one counts": "only 1 case counts",
        "one result": "1 result",
        "results": "{count} results",
        "prompts": "Over {models} models together, {sentence}",
        "refused": "{second} and {first} are not compared: {reason}.",
        "prompt": "prompt {name}",
        "no prompt": "no prompt",
    },
    "zh": {
        "better": "{second} 优于 {first}：{numbers}；{flips}。",
        "worse": "{second} 劣于 {first}：{numbers}；{flips}。",
        "no_worse": "{second} 不比 {first} 差 {margin} 分以上：{numbers}；{flips}。",
        "equal": "{second} 与 {first} 相差不到 {margin} 分：{numbers}；{flips}。",
        "unclear": "无法区分 {second} 与 {first}：{numbers}；{flips}。{power}",
        "nothing": "无法比较 {second} 与 {first}：{cases}。",
        "numbers": "{difference} 分（满分 100），95 % 区间 {low} 至 {high}，{p}，{cases}",
        "together": "{difference} 分（满分 100），区间 {low} 至 {high}（{tested} 行合计 95 %），"
        "{p}，{cases}",
        "evidence": "看过{cases}后证据为 {odds}:1，{difference} 分（满分 100），"
        "任何时候都成立的区间 {low} 至 {high}",
        "stop": "可以停止。",
        "go on": "证据达到 {sure}:1 即可。",
        "flips": "{to_right}由错变对，{to_wrong} 道由对变错",
        "graded": "{better}变好，{worse} 道变差（其中由错变对 {to_right}，由对变错 {to_wrong}）",
        "none": "没有一道题的结果不同",
        "more": "要确认这样大小的差异，大约还需要 {more} 道同类题目。",
        "between": "要确认这样大小的差异，还需要 {few} 至 {many} 道同类题目。",
        "least": "要确认这样大小的差异，至少还需要 {few} 道同类题目；差异若更小，则需要多得多。",
        "same": "以这么多题目，只有 {detectable} 分以上的差异才能看出来。",
        "too few": "题目太少，任何差异都看不出来。",
        "never": "这样小的差异，再多的题目也难以确认。",
        "turn": "未评分的题目可能改变结论：差异在 {low} 至 {high} 之间。",
        "smaller": "看出的差异小于界限。",
        "one case": "1 道题",
        "cases": "{count} 道题",
        "clustered": "{cases}（共 {count} 组）",
        "clusters": " {count} 组",
        "no cases": "没有两边都计分的题目",
        "one counts": "两边都计分的题目只有 1 道",
        "one result": "1 个结果",
        "results": "{count} 个结果",
        "prompts": "{models} 个模型合计：{sentence}",
        "refused": "未比较 {second} 与 {first}：{reason}。",
        "prompt": "提示词 {name}",
        "no prompt": "无提示词",
    },
}


def sentence(contrast: Contrast, language: Language = "en") -> str:
    """Say which run is better and how sure that is, or how many more cases it would take."""
    sides = {"first": contrast.first.name, "second": contrast.second.name}
    return _sentence(contrast, sides, contrast.first.suite.cluster, _WORDS[language])


def prompt_sentence(
    contrast: GroupContrast,
    first: str,
    second: str,
    models: int,
    cluster: str = "",
    language: Language = "en",
) -> str:
    """Say which prompt is better over several models together; counts are of cases and results."""
    words = dict(_WORDS[language])
    # A case may get better with one model and worse with another.
    counted = {**words, "one case": words["one result"], "cases": words["results"]}
    sides = {"first": _prompt(first, words), "second": _prompt(second, words)}
    text = _sentence(contrast, sides, cluster, words, changes=counted)
    return words["prompts"].format(models=models, sentence=text)


def refused_prompts(
    first: str, second: str, models: int, reason: str, language: Language = "en"
) -> str:
    """Say that two prompts cannot be compared, and why."""
    words = _WORDS[language]
    text = words["refused"].format(
        first=_prompt(first, words), second=_prompt(second, words), reason=reason
    )
    return words["prompts"].format(models=models, sentence=text)


def _prompt(name: str, words: Mapping[str, str]) -> str:
    if name.startswith("prompt") and words["prompt"].startswith("prompt"):
        return name
    return words["prompt"].format(name=name) if name else words["no prompt"]


def _sentence(
    contrast: GroupContrast,
    sides: Mapping[str, str],
    cluster: str,
    words: Mapping[str, str],
    *,
    changes: Mapping[str, str] | None = None,
) -> str:
    paired = contrast.paired
    verdict: Verdict = contrast.verdict
    if paired.difference is None or contrast.interval is None:
        cases = words["one counts"] if paired.n == 1 else words["no cases"]
        return words["nothing"].format(**sides, cases=cases)
    verdict_text = words[verdict].format(
        **sides,
        numbers=_numbers(contrast, cluster, words),
        flips=_flips(contrast, changes or words),
        margin="" if contrast.margin is None else f"{contrast.margin * 100:g}",
        power=_power(contrast, words) if verdict == "unclear" else "",
    )
    more = words["smaller"] if verdict == "equal" and contrast.told_apart == "worse" else ""
    parts = (verdict_text.strip(), more, _turn(contrast, words), _stop(contrast, words))
    return " ".join(part for part in parts if part)


def points(share: float, *, sign: bool = True) -> str:
    """Write a difference in points of 100."""
    value = share * 100
    shown = f"{value:.2f}" if 0 < abs(value) < 0.095 else f"{value:.1f}"
    if float(shown) == 0:
        return "0.0"
    if not sign:
        return shown.removeprefix("-")
    return shown.replace("-", "−") if value < 0 else f"+{shown}"


def p_text(p: float | None) -> str:
    """Write a p value as papers do."""
    if p is None:
        return "–"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.0995 else f"p = {p:.2f}"


def odds_text(odds: float) -> str:
    """Write evidence to one: no more digits than it has, and never as enough where it is less."""
    if odds >= 1_000_000:
        return "more than 1,000,000"
    return f"{floor(odds):,}" if odds >= 10 else f"{floor(10 * odds) / 10:.1f}"


def about(number: int) -> str:
    """Round a count up to two digits: more would claim to know more than is known."""
    if number < 10:
        return str(number)
    unit = 10 ** (floor(log10(number)) - 1)
    return f"{-(-number // unit) * unit:,}"


def _numbers(contrast: GroupContrast, cluster: str, words: Mapping[str, str]) -> str:
    paired, sequential = contrast.paired, contrast.sequential
    assert paired.difference is not None
    assert contrast.interval is not None
    if sequential is not None:
        return words["evidence"].format(
            odds=odds_text(sequential.odds),
            cases=_clusters("clusters", sequential.cases, cluster, words)
            if sequential.clustered
            else _cases(sequential.cases, words),
            difference=points(paired.difference),
            low=points(contrast.interval[0]),
            high=points(contrast.interval[1]),
        )
    return words["together" if contrast.tested > 1 else "numbers"].format(
        difference=points(paired.difference),
        low=points(contrast.interval[0]),
        high=points(contrast.interval[1]),
        p=p_text(contrast.adjusted_p),
        cases=_clustered(contrast, cluster, words),
        tested=contrast.tested,
    )


def _clustered(contrast: GroupContrast, cluster: str, words: Mapping[str, str]) -> str:
    """Count the cases, and the clusters that they lie in, where there are any."""
    paired = contrast.paired
    cases = _cases(paired.n, words)
    if paired.clusters is None:
        return cases
    return _clusters("clustered", paired.clusters, cluster, words, cases=cases)


def _clusters(form: str, count: int, cluster: str, words: Mapping[str, str], **more: str) -> str:
    """Count clusters, called by the name of their tag; Chinese has one word for all of them."""
    named = clusters_text(count, cluster)
    return words[form].format(clusters=named, count=f"{count:,}", **more)


def _flips(contrast: GroupContrast, words: Mapping[str, str]) -> str:
    paired, flips = contrast.paired, contrast.flips
    if not paired.better and not paired.worse:
        return words["none"]
    return words["graded" if flips.graded else "flips"].format(
        better=_cases(paired.better, words),
        worse=f"{paired.worse:,}",
        to_right=f"{flips.to_right:,}" if flips.graded else _cases(flips.to_right, words),
        to_wrong=f"{flips.to_wrong:,}",
    )


def _power(contrast: GroupContrast, words: Mapping[str, str]) -> str:
    """Say how many more cases it would take, or what so many could have shown."""
    paired, outlook = contrast.paired, contrast.paired.outlook
    if outlook is None or contrast.bounds is not None or contrast.sequential is not None:
        return ""
    if not paired.difference:
        detectable = outlook.detectable(contrast.level)
        if detectable is None:
            return words["too few"]
        return words["same"].format(detectable=points(detectable, sign=False))
    few, many = (
        None if needed is None else about(max(1, needed - paired.n))
        for needed in outlook.needed_range(contrast.level)
    )
    if few is None:
        return words["never"]
    if many is None:
        return words["least"].format(few=few, noun=_noun(few))
    form = "more" if few == many else "between"
    return words[form].format(few=few, many=many, more=few, noun=_noun(few))


def _noun(count: str) -> str:
    return "case" if count == "1" else "cases"


def _stop(contrast: GroupContrast, words: Mapping[str, str]) -> str:
    """Say whether one may stop, where cases come one after the other."""
    sequential = contrast.sequential
    if sequential is None:
        return ""
    if sequential.decision is not None:
        return words["stop"]
    return words["go on"].format(sure=f"{sequential.sure:g}")


def _turn(contrast: GroupContrast, words: Mapping[str, str]) -> str:
    """Say where nothing can be said for sure because of what is unscored."""
    if contrast.bounds is None or contrast.verdict != "unclear" or contrast.sequential:
        return ""
    low, high = contrast.bounds
    return words["turn"].format(low=points(low), high=points(high))


def _cases(count: int, words: Mapping[str, str]) -> str:
    return words["one case"] if count == 1 else words["cases"].format(count=f"{count:,}")
