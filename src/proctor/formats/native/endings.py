"""The endings of files in the native format."""

from proctor.io.row_files import TABLE_ENDINGS

YAML_ENDINGS = (".yaml", ".yml")
ROW_ENDINGS = (".jsonl", *TABLE_ENDINGS, ".parquet", ".xlsx")
ENDINGS = YAML_ENDINGS + ROW_ENDINGS
FOLDER_ENDINGS = tuple(ending for ending in ENDINGS if ending not in (".tsv", ".xlsx"))
"""Of a folder without a suite file; a .tsv or .xlsx there is somebody's data, as it always was."""
SUITE_FILES = ("suite.yaml", "suite.yml")
