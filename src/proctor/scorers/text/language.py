"""The language of an answer, told by its script and its most frequent words."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from proctor.contracts.scorer import TextScorer
from proctor.core.score import Score

MOST = 20_000
"""Characters of an answer that are looked at."""
ENOUGH = 3
"""Frequent words of a language that must be there before it is told from another."""
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.S)
_BETWEEN = re.compile(r"[\s\d.,;:!?\"()\[\]{}<>/|*#।،؛؟…«»“”„‘`~+=-]+")
"""What stands between words; vowels of some scripts are no letters to ``re``."""
_SCRIPTS: Mapping[str, str] = {
    "kana": "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f",
    "han": "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff",
    "hangul": "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af",
    "cyrillic": "\u0400-\u052f",
    "arabic": "\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufeff",
    "hebrew": "\u0590-\u05ff",
    "greek": "\u0370-\u03ff",
    "devanagari": "\u0900-\u097f",
    "bengali": "\u0980-\u09ff",
    "gurmukhi": "\u0a00-\u0a7f",
    "gujarati": "\u0a80-\u0aff",
    "tamil": "\u0b80-\u0bff",
    "telugu": "\u0c00-\u0c7f",
    "kannada": "\u0c80-\u0cff",
    "malayalam": "\u0d00-\u0d7f",
    "thai": "\u0e00-\u0e7f",
    "georgian": "\u10a0-\u10ff",
    "armenian": "\u0530-\u058f",
    "latin": "A-Za-z\u00c0-\u024f\u1e00-\u1eff",
}
_OF_SCRIPT: Mapping[str, tuple[str, ...]] = {
    "kana": ("ja",), "han": ("zh", "ja"), "hangul": ("ko",), "hebrew": ("he",), "greek": ("el",),
    "cyrillic": ("ru", "uk", "bg", "sr"), "arabic": ("ar", "fa", "ur"),
    "devanagari": ("hi", "mr", "ne"), "gurmukhi": ("pa",), "gujarati": ("gu",), "telugu": ("te",),
    "kannada": ("kn",), "malayalam": ("ml",), "bengali": ("bn",), "tamil": ("ta",),
    "thai": ("th",), "georgian": ("ka",), "armenian": ("hy",),
}  # fmt: skip
_WORDS: Mapping[str, str] = {
    "en": "the of and to in is that it was for on are with as this have from be by not or you",
    "de": "der die das und ist nicht ein eine zu den mit von für auf dem sich des im auch es wir",
    "fr": "le la les de des et est un une que qui dans pour pas sur du au avec ce sont il nous",
    "es": "el la los las de que y en un una es por con para no se del al como más pero son",
    "pt": "o os as de que e em um uma é por com para não se da do dos na no mais mas são",
    "it": "il lo la gli di che e in un una è per con non si del della dei sono più anche come",
    "nl": "de het een van en is niet dat die in op te voor met zijn aan er ook als maar wij",
    "sv": "och att det är som en ett på för av inte med den till har om de var jag vi",
    "da": "og at det er som en et på for af ikke med den til har om de var jeg der",
    "no": "og at det er som en et på for av ikke med den til har om de var jeg ble",
    "fi": "ja on ei se että en oli hän mutta ovat kun niin myös tai joka kuin sen ole",
    "pl": "i w na nie się z że to do jest jak o po od za co ale są dla przez",
    "cs": "a v na se že je to s z do o i jako po za ale jsou by pro který",
    "ro": "și de la în nu este un o cu pe care că din pentru mai sunt ce sau dar fi",
    "hu": "a az és hogy nem is egy van de ez azt meg volt csak már mint el ha vagy",
    "tr": "ve bir bu da de için ile çok ne daha gibi kadar var olarak olan değil mi ama o",
    "vi": "và là của có không một cho được trong với các những này đã người khi để từ",
    "id": "dan yang di itu dengan untuk tidak ini dari dalam akan pada juga saya adalah ke bisa",
    "sw": "na ya wa ni kwa katika za la kuwa hii si pia yake ambayo watu sana kama lakini",
    "ru": "и в не на что он с как это по но из у за от же бы для мы был",
    "uk": "і в не на що він з як це по але із у за від та для ми був є",
    "bg": "и в не на че той с като това по но от за се да са ние беше ще",
    "sr": "и у не на да је се са као то али из за од су он ми бити што",
    "ar": "في من على أن إلى هذا التي الذي عن مع ما لا كان هو هي هذه قد كل",
    "fa": "در و به از که این است را با برای آن یک می‌شود تا بر هم بود نیست",
    "ur": "کے میں کی ہے اور سے کا کو اس پر نے یہ کہ ہیں تھا بھی ایک نہیں",
    "hi": "के में की है और से का को इस पर ने यह कि हैं था भी एक नहीं",
    "ne": "छ र को मा हो छन् यो त्यो लागि पनि गर्न हुन्छ थियो एक भएको गरेको",
    "mr": "आणि आहे या हे ते च्या मध्ये की तो ती नाही होते एक केली आहेत",
}
_NAMES: Mapping[str, str] = {
    "english": "en", "german": "de", "french": "fr", "spanish": "es", "portuguese": "pt",
    "italian": "it", "dutch": "nl", "swedish": "sv", "danish": "da", "norwegian": "no",
    "finnish": "fi", "polish": "pl", "czech": "cs", "romanian": "ro", "hungarian": "hu",
    "turkish": "tr", "vietnamese": "vi", "indonesian": "id", "russian": "ru", "ukrainian": "uk",
    "bulgarian": "bg", "serbian": "sr", "arabic": "ar", "persian": "fa", "urdu": "ur",
    "hindi": "hi", "marathi": "mr", "chinese": "zh", "japanese": "ja", "korean": "ko",
    "hebrew": "he", "greek": "el", "thai": "th", "bengali": "bn", "tamil": "ta", "georgian": "ka",
    "armenian": "hy", "punjabi": "pa", "gujarati": "gu", "telugu": "te", "kannada": "kn",
    "malayalam": "ml", "nepali": "ne", "swahili": "sw", "nb": "no", "nn": "no", "iw": "he",
}  # fmt: skip
LANGUAGES = tuple(sorted({*_WORDS, *(name for names in _OF_SCRIPT.values() for name in names)}))


def code_of(name: str) -> str:
    """Return the code of a language that is named by a code, with or without region, or a word."""
    short = name.strip().lower().replace("_", "-").partition("-")[0]
    return _NAMES.get(short, short)


@dataclass(frozen=True)
class Guess:
    """The language of a text as far as it can be told."""

    language: str
    """Empty where the text is too short to tell."""
    possible: frozenset[str]
    """The languages of its script."""


def guess(text: str) -> Guess:
    """Tell the language of a text; code, addresses and numbers in it say nothing."""
    prose = _CODE.sub(" ", text[:MOST])
    script = _script(prose)
    if script == "han":
        return Guess("zh", frozenset({"zh"}))
    written = _OF_SCRIPT.get(script, ()) if script != "latin" else _latin()
    if len(written) == 1:
        return Guess(written[0], frozenset(written))
    possible = frozenset(written)
    counts = Counter(_BETWEEN.split(prose.lower()))
    tallies = sorted(
        ((sum(counts[word] for word in _frequent(name)), name) for name in written), reverse=True
    )
    if not tallies or tallies[0][0] < ENOUGH or (
        len(tallies) > 1 and tallies[0][0] == tallies[1][0]
    ):  # fmt: skip
        return Guess("", possible)
    return Guess(tallies[0][1], possible)


@lru_cache(maxsize=1)
def _latin() -> tuple[str, ...]:
    other = {name for names in _OF_SCRIPT.values() for name in names}
    return tuple(name for name in _WORDS if name not in other)


@lru_cache(maxsize=64)
def _frequent(name: str) -> frozenset[str]:
    return frozenset(_WORDS.get(name, "").split())


@lru_cache(maxsize=64)
def _signs(script: str) -> re.Pattern[str]:
    return re.compile(f"[{_SCRIPTS[script]}]")


def _script(text: str) -> str:
    """Return the script of most letters; Japanese has signs of its own among Chinese ones."""
    counts = {name: len(_signs(name).findall(text)) for name in _SCRIPTS}
    # A sign of Chinese or Korean is about a word, a letter is not.
    weighted = {
        name: count * (3 if name in ("han", "kana", "hangul") else 1)
        for name, count in counts.items()
    }
    signs = counts["kana"] + counts["han"]
    if counts["kana"] * 10 >= max(1, counts["han"]) and signs * 3 >= max(weighted.values()):
        return "kana"
    best = max(weighted, key=weighted.__getitem__)
    return best if counts[best] else ""


@dataclass(frozen=True)
class LanguageIs(TextScorer):
    """Pass when the answer is written in a language: ``language: zh``, ``de`` or ``French``.

    It is told by script and by frequent words, which tells some 40 languages apart; code, addresses
    and numbers do not count. An answer too short to tell passes if its script fits.
    """

    instant: ClassVar[bool] = True
    columnar: ClassVar[bool] = True
    fixed_marks: ClassVar[bool] = True

    language: str

    def score_texts(self, output: str, references: tuple[str, ...]) -> Score:
        wanted = code_of(self.language)
        told = guess(output)
        detail = {"language": told.language}
        if told.language:
            hit = told.language == wanted
            return Score(
                points=float(hit), out_of=1.0, reason=f"it is in {told.language!r}", detail=detail
            )
        hit = wanted in told.possible
        fits = "fits" if hit else "does not fit"
        reason = f"too short to tell the language; its script {fits}"
        return Score(points=float(hit), out_of=1.0, reason=reason, detail=detail)

    def problems(self) -> Iterable[str]:
        if code_of(self.language) not in LANGUAGES:
            yield f"there is no way to tell {self.language!r}; known are: {', '.join(LANGUAGES)}"
