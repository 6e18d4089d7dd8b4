"""The words around a verdict that tell whose it is: labels, introductions, refusals, farewells."""

import re

_LABEL = (
    r"(?:\A|\n)[ \t#*_-]*(?:(?:the|my|final|here(?:'s| is)|json|this is|below is)\s+){0,4}"
    r"(?:verdict|judge?ment|ruling|decision|answer|result|output|json(?: object)?|response"
    r"|evaluation|assessment|score|rating|conclusion"
    r"|裁决|判定|结论|结果|输出|评分|最终裁决|最终结论|判断)"
)
LABEL = re.compile(rf"{_LABEL}[ \t*_]*[:：]?[ \t*_]*\s*\Z", re.IGNORECASE)
"""What a judge writes before its verdict and means nothing by."""

EXPLAINS = re.compile(
    r"[\s`}*_#-]*(?:explanation|reason(?:ing|s)?|rationale|justification|notes?|comment|because"
    r"|解释|理由|说明|原因|备注)[\s*_]*[:：]",
    re.IGNORECASE,
)
"""The beginning of an explanation that follows a verdict."""

FAREWELL = re.compile(
    r"[\W_]*(?:(?:i hope (?:this|that) helps|hope (?:this|that) helps"
    r"|let me know if (?:you|there)[^.!\n]{0,80}"
    r"|(?:this is )?(?:my|the) final (?:verdict|answer|decision|ruling)"
    r"|end of (?:verdict|reply|response|evaluation|judge?ment)|done|thank you|thanks|end"
    r"|希望(?:这|对)[^。\n]{0,20}|以上(?:是|为)?(?:我的)?(?:最终)?(?:裁决|判定|结论|评价)?|完毕|谢谢)[\W_]*){1,4}",
    re.IGNORECASE,
)
"""What may follow any verdict."""

_RULING_WORDS = (
    r"says?|said|saying|wrote|writes?|written|writing|reads?|states?|stated|claims?|claimed"
    r"|contains?|contained|includes?|included|outputs?|print(?:s|ed)?|repl(?:ies|ied)"
    r"|respond(?:s|ed)|demand(?:s|ed)|request(?:s|ed)|quot(?:e|es|ed|ing|ation)"
    r"|inject(?:s|ed|ion)|forge[sd]?|fake[ds]?|ask(?:s|ed)? (?:me|for)|tells? me|told me"
    r"|instruct(?:s|ed) me|want(?:s|ed) me|tr(?:ies|ied|ying)|end(?:s|ed|ing)?|begins?|opens?"
    r"|start(?:s|ed)?|close[sd]?"
    r"|me to (?:say|reply|answer|output|write|return|give|print|respond|rule|emit|produce)"
)
_WHOSE = r"candidate|answer|assistant|agent|user|reply|response|author|message|student|paper"
_WHO = r"candidate|assistant|agent|user|author|student"
_WHAT = r"text|words|reply|answer|message|verdict|json|object|output|claim|response"
_FILLING = (
    r"that|with|as|by|the|a|this|following|text|object|json|verdict|line|block|is|was|here|to|of"
    r"|in|from|its|own|words?|literally|exactly|verbatim|follows|me|it"
)
INTRODUCES = re.compile(
    rf"(?:\b(?:{_RULING_WORDS})(?: (?:{_FILLING})){{0,8}}(?:\s*[:：]\s*|[ \t]*,?[ \t]*)"
    rf"|\b(?:(?:{_WHOSE})['’]s(?: own)? (?:{_WHAT})|{_WHO})\s*[:：]\s*"
    r"|(?:写道|写着|写了|说道|说|声称|包含|要求(?:我)?(?:输出|回复|回答|给出)?|引用|原文|如下"
    r"|输出(?:了|的是)|候选(?:者|人)?(?:的回答)?|伪造(?:的)?|注入(?:的)?)"
    r"(?:\s*[:：]\s*|[ \t]*，?))\Z",
    re.IGNORECASE,
)
"""What a judge writes before words that are not its own."""

_I = r"\bi(?:['’]m| am|['’]d| would|['’]ll| will| must| do| have to)?\b"
_NOT = (
    r"cannot|can ?not|can['’]?t|not|\w+n['’]t|refuse|decline|unable|disregard|ignore|reject"
    r"|withhold|abstain|never|sorry|take (?:it|that|this) back|retract"
)
_DISOWNED = (
    r"no verdict|not (?:my|a|the) (?:own )?(?:verdict|ruling|judge?ment|decision)"
    r"|retract(?:ed|ion|ing)?|quot(?:e|ed|ation|ing)|inject(?:ed|ion|s)?|manipulat\w*"
    r"|prompt[- ]?(?:attack|hack)\w*|jailbreak\w*|forge[dry]*|adversarial|refus(?:e|es|ed|al|ing)"
    r"|declin(?:e|es|ed|ing)|abstain\w*|copied|verbatim|told me to|asked me to|instruct(?:s|ed) me"
    r"|wants? me to|as (?:instructed|requested|demanded) by|disregard|ignore (?:this|that|the)"
    r"|what (?:the|it|he|she|they)\b[^.\n]{0,60}"
    r"\b(?:wants?|wanted|says?|said|wrote|demand\w*|asked)"
    r"|(?:candidate|answer|assistant|agent)['’]s (?:own )?(?:verdict|words|text|claim|json)"
    r"|correction|on second thought|actually|wait|instead|scratch that|never ?mind"
    r"|unable to (?:judge|rule|decide|tell)"
)
REFUSES = re.compile(
    rf"{_I}[^.!?\n]{{0,40}}\b(?:{_NOT})\b|\b(?:{_DISOWNED})\b"
    r"|(?:不能|无法|拒绝|不会|不予|不愿)(?:做出|作出|给出|判|评|裁|照|执行|回答)"
    r"|注入|伪造|引用|抄录|撤回|收回|作废|无视|忽略(?:上|以上|该|此)|更正|不是我的|要求我|拒绝"
    r"|\b(?:je (?:ne|refuse)|ich (?:kann|werde|weigere|lehne)|no puedo|me niego|non posso"
    r"|mi rifiuto|não posso|recuso|я не|отказываюсь|не могу)\b"
    r"|できません|拒否|お断り|할 수 없|거부",
    re.IGNORECASE,
)
"""What a judge writes after words that are not its ruling, or no longer."""
