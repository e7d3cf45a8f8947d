"""Read and write result and score files in the official runner's formats."""

from attune_env.results.files import read_results, result_name, save_results, write_json
from attune_env.results.recorded import narrowed, recorded_source
from attune_env.results.scores import check_replaceable, read_scores, score_results

__all__ = [
    "check_replaceable",
    "narrowed",
    "read_results",
    "read_scores",
    "recorded_source",
    "result_name",
    "save_results",
    "score_results",
    "write_json",
]
