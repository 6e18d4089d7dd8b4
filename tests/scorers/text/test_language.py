"""The language of answers, and what is said of those that are too short to tell."""

import pytest

from proctor import registry
from proctor.contracts.scorer import ScoreContext
from proctor.core.suite import Spec
from proctor.scorers.text.language import LANGUAGES, code_of, guess
from proctor.testing import try_scorer

TEXTS = {
    "en": "The quick fox is not in the garden, and it was seen by the river with the others.",
    "de": "Der Fuchs ist nicht im Garten, und die Hunde sind mit dem Mann auf der Wiese.",
    "fr": "Le renard est dans le jardin avec les chiens, et il ne mange pas sur la table.",
    "es": "El zorro no está en el jardín, y los perros son de la mujer que vive por aquí.",
    "pt": "A raposa não está no jardim, e os cães são da mulher que mora com uma amiga.",
    "it": "La volpe non è nel giardino, e gli amici sono con una donna che vive per strada.",
    "nl": "De vos is niet in het bos, en de honden van die man zijn ook op het veld.",
    "sv": "Räven är inte i trädgården, och det är en hund som har sprungit till huset.",
    "fi": "Kettu ei ole puutarhassa, ja hän oli siellä kun se meni, mutta he ovat myös kotona.",
    "pl": "Lis nie jest w ogrodzie, a to się stało na łące, bo pies jest z nami i śpi.",
    "ro": "Vulpea nu este în grădină și câinii sunt cu femeia care stă la masă pe scaun.",
    "hu": "A róka nem a kertben van, és az az ember is látta, hogy a kutya csak egy volt már.",
    "tr": "Tilki bahçede değil ve bu köpek çok büyük bir ev için daha iyi gibi.",
    "vi": "Con cáo không ở trong vườn và những con chó này là của một người được tôi biết.",
    "id": "Rubah itu tidak ada di kebun dan anjing yang besar akan pergi dengan saya.",
    "ru": "Лиса не в саду, и это было как в лесу, но он из дома на улице.",
    "uk": "Лисиця не в саду, і це було як у лісі, але він з дому та на вулиці.",
    "zh": "狐狸不在花园里，狗和主人一起在河边。",
    "ja": "狐は庭にいません。犬は主人と川のそばにいます。",
    "ko": "여우는 정원에 없고 개는 주인과 함께 강가에 있다.",
    "ar": "الثعلب ليس في الحديقة، وهو مع الكلب على ضفة النهر من هذا المكان إلى البيت.",
    "fa": "روباه در باغ نیست و این سگ با مرد به خانه از راه رفته است که بود.",
    "he": "השועל אינו בגן והכלב ליד הנהר.",
    "el": "Η αλεπού δεν είναι στον κήπο.",
    "hi": "लोमड़ी बगीचे में नहीं है और कुत्ता नदी के पास है।",
    "kn": "ನರಿ ತೋಟದಲ್ಲಿ ಇಲ್ಲ ಮತ್ತು ನಾಯಿ ನದಿಯ ಬಳಿ ಇದೆ.",
    "te": "నక్క తోటలో లేదు మరియు కుక్క నది దగ్గర ఉంది.",
    "gu": "શિયાળ બગીચામાં નથી અને કૂતરો નદી પાસે છે.",
    "pa": "ਲੂੰਬੜੀ ਬਾਗ ਵਿੱਚ ਨਹੀਂ ਹੈ ਅਤੇ ਕੁੱਤਾ ਨਦੀ ਕੋਲ ਹੈ।",
    "ne": "स्याल बगैंचामा छैन र कुकुर नदीको छेउमा छ, यो घर पनि हो।",
    "sw": "Mbweha si katika bustani, na mbwa ni wa mtu ambayo yuko kwa mto pia.",
    "th": "สุนัขจิ้งจอกไม่ได้อยู่ในสวน",
}


@pytest.mark.parametrize("language", TEXTS)
def test_a_language_is_told(language: str) -> None:
    assert guess(TEXTS[language]).language == language


@pytest.mark.parametrize(
    ("text", "language", "points"),
    [
        (TEXTS["en"], "en", 1),
        (TEXTS["en"], "English", 1),
        (TEXTS["en"], "en-GB", 1),
        (TEXTS["en"], "de", 0),
        (TEXTS["zh"], "zh_CN", 1),
        (TEXTS["zh"], "ja", 0),
        (TEXTS["ja"], "zh", 0),
        ("Paris.", "en", 1),
        ("Paris.", "fr", 1),
        ("Paris.", "zh", 0),
        ("42", "en", 0),
        ("好", "zh", 1),
        ("好", "en", 0),
        ("```python\nthe = of and to in is that it was\n```\n" + TEXTS["de"], "de", 1),
        (TEXTS["zh"] + " (GPU, CUDA, PyTorch)", "zh", 1),
        ("Der Befehl `the of and to in is` ist nicht da, und das ist die Regel.", "de", 1),
    ],
)
def test_points(text: str, language: str, points: float) -> None:
    scorer = registry.build("scorer", Spec(name="language", params={"language": language}))
    assert list(scorer.problems()) == []
    assert try_scorer(scorer, ScoreContext.of(text)).points == points


def test_a_language_that_cannot_be_told_is_a_problem() -> None:
    scorer = registry.build("scorer", Spec(name="language", params={"language": "klingon"}))
    (problem,) = scorer.problems()
    assert "known are: ar, bg" in problem
    assert code_of("Chinese") == "zh"
    assert "en" in LANGUAGES
