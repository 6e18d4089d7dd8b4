"""Arthur Bench: its files and folders, notebook API, endpoints and command."""

PLUGINS = {
    "archive": {"bench": "proctor.origins.arthur.folder:BenchFolder"},
    "dialect": {"bench": "proctor.origins.arthur.dialect:Bench"},
}
SIGNS = {"bench": {".csv": "reference_output", ".json": ""}}
VARIANTS = {
    "scorer": {
        "exact_match": "proctor.origins.arthur.scorers:ArthurExactMatch",
        "hedging_language": "proctor.origins.arthur.scorers:ArthurHedgingLanguage",
        "qa_correctness": "proctor.origins.arthur.scorers:ArthurQaCorrectness",
        "readability": "proctor.origins.arthur.scorers:ArthurReadability",
        "specificity": "proctor.origins.arthur.scorers:ArthurSpecificity",
        "summary_quality": "proctor.origins.arthur.scorers:ArthurSummaryQuality",
        "word_count_match": "proctor.origins.arthur.scorers:ArthurWordCountMatch",
    },
}
FLAGS = (("--scoring-method", "scoring_method", "text", ""),)
COMMANDS = {
    "bench": (
        "proctor.origins.arthur.command:bench",
        "Take in a folder of Arthur Bench, and list it.",
    ),
}
ENDPOINTS = "proctor.origins.arthur.endpoints"
