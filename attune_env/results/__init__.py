"""Result and score files: the official runner's formats, read and written."""

from attune_env.results.files import read_results, result_name, write_json
from attune_env.results.scores import read_scores, score_results

__all__ = ["read_results", "read_scores", "result_name", "score_results", "write_json"]
