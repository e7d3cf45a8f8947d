"""`attune run`, with built-in policies and models behind a server: files, resuming, refusals."""

from __future__ import annotations

import re
import resource
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from attune_data import SettingsError, load
from attune_env.cli import spelt_out
from attune_env.cli.server import BESIDE, again_command, allow_connections, chosen_judges, chosen_models
from attune_env.cli.shared import Drawn, Judging, refuse
from attune_env.cli.shared import Server as Asked
from attune_env.running.providers import endpoint_of
from attune_env.running.settings import Price
from attune_episodes import BUILTIN, Settings
from tests.command import OWN_WORDING, attune_here, data_folder, names, own, read, snapshot, table_rows
from tests.data.builders import folder, with_annotations, write
from tests.endpoint import Server, answers_of, serve
from tests.running.playing import judge_answers, small

FILES = [f"c-{n}_builtin_always-no_default.json" for n in (1, 2, 3)]
DATA = small(3)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return data_folder(tmp_path / "data")


def run(cwd: Path, *arguments: str | Path, model: str = "always-no", code: int = 0) -> tuple[str, str]:
    return attune_here(["run", "builtin", model, *arguments, "-o", "out"], cwd, code)


def test_one_file_a_conversation(tmp_path: Path, data: Path) -> None:
    out, err = run(tmp_path, data)
    assert out.splitlines() == [
        "wrote 3 results to out; 0 were already complete",
        f"next: attune score --results out --data {data} --output scores.json",
    ]
    assert err.splitlines() == [OWN_WORDING]
    assert names(tmp_path / "out") == FILES
    record = read(tmp_path / "out" / FILES[1])
    assert [record[key] for key in ("conversationId", "source_file", "em_model", "mode", "api_cost")] == [
        "c-2", "conversation_2.json", "builtin/always-no", "default", 0.0,
    ]  # fmt: skip
    assert record["duration_seconds"] > 0
    assert record["attune"]["complete"] is True
    assert record["attune"]["policy"] == {"name": "always-no"}
    assert record["attune"]["data"]["provenance"] == "own"


def test_all_plays_every_built_in_policy_as_it_plays_alone(tmp_path: Path, data: Path) -> None:
    run(tmp_path, data)
    out, _ = run(tmp_path, data, model="all")
    assert out.startswith(f"wrote {3 * (len(BUILTIN) - 1)} results to out; 3 were already complete\n")
    assert set(names(tmp_path / "out")) == {
        f"c-{n}_builtin_{policy}_default.json" for n in (1, 2, 3) for policy in BUILTIN
    }
    together = read(tmp_path / "out" / "c-2_builtin_asked_default.json")
    attune_here(["run", "builtin", "asked", data, "-o", "alone"], tmp_path)
    changing = {"run_timestamp": None, "duration_seconds": None}
    alone = read(tmp_path / "alone" / "c-2_builtin_asked_default.json")
    assert together | changing == alone | changing


@pytest.mark.parametrize("damage", ["cut", "empty", "incomplete"])
def test_an_interrupted_file_is_made_again(tmp_path: Path, data: Path, damage: str) -> None:
    run(tmp_path, data)
    path = tmp_path / "out" / FILES[1]
    whole = read(path)
    if damage == "incomplete":
        write(path, whole | {"attune": whole["attune"] | {"complete": False}})
    else:
        path.write_bytes(b"" if damage == "empty" else path.read_bytes()[:-200])
    out, _ = run(tmp_path, data)
    assert out.startswith("wrote 1 results to out; 2 were already complete\n")
    changing = {"run_timestamp": None, "duration_seconds": None}
    assert read(path) | changing == whole | changing


OTHERS = {
    "--seed 1": "seed 0 there, 1 now",
    "--labels official": "labels masked there, official now",
    "--panas-strategy delta": "panas_strategy absolute there, delta now",
    "--stages prefer": "stages",
    "--training-step 0": "training step None there, 0 now",
    "--training-step 5 --training-run a": "training run None there, a now",
    "--prompts compact": "compact",
}


def test_results_of_other_settings_are_not_mixed_in(tmp_path: Path, data: Path) -> None:
    run(tmp_path, data)
    before = snapshot(tmp_path)
    for options, difference in OTHERS.items():
        out, err = run(tmp_path, data, *options.split(), code=2)
        assert "wrote" not in out
        assert difference in err
        assert "choose another -o, or pass --overwrite" in err
        assert snapshot(tmp_path) == before
    out, _ = run(tmp_path, data, *options.split(), "--overwrite")
    assert out.startswith("wrote 3 results to out; 0 were already complete\n")


def test_a_limit_plays_the_first_and_a_later_run_the_rest(tmp_path: Path, data: Path) -> None:
    run(tmp_path, data, "--limit", "2")
    assert names(tmp_path / "out") == FILES[:2]
    out, _ = run(tmp_path, data)
    assert out.startswith("wrote 1 results to out; 2 were already complete\n")


def test_fitted_policies_need_two_people_or_fitting_data(tmp_path: Path) -> None:
    folder(tmp_path / "one", {1: own("a"), 2: own("b")})
    _, err = run(tmp_path, "one", model="prior", code=2)
    assert "there is only one here" in err
    assert "--fit PATH, or --fit sample" in err
    assert not (tmp_path / "out").exists()
    run(tmp_path, "one", "--fit", "sample", model="prior")
    marks = read(tmp_path / "out" / "a_builtin_prior_default.json")["attune"]
    assert marks["policy"] == {"name": "prior", "fitted_on": f"sample {load('sample').fingerprint}"}
    _, err = run(tmp_path, "one", "--fit", "one", model="prior", code=2)
    assert "fitted on other data" in err


SERVED = "custom m sample --base-url http://h/v1"


@pytest.mark.parametrize(("arguments", "message"), [
    ("builtin priorr sample", 'no built-in policy named "priorr"; did you mean \'prior\'?'),
    ("bultin prior sample", 'no provider named "bultin"; did you mean \'builtin\'?'),
    ("builtin copy sample --modes verbos", 'no mode named "verbos"; did you mean \'verbose\'?'),
    ("builtin copy sample --stages asses", 'no stage named "asses"; did you mean \'assess\'?'),
    ("builtin copy sample --stages ''", "no stage named"),
    ("builtin empty sample --prompts ful", 'no prompt set named "ful"; did you mean \'full\'?'),
    ("builtin empty sample --labels hidden", "hidden"),
    ("builtin empty sample --limit 0", "number"),
    ("builtin empty", "PATH"),
    ("custom m sample", "provider custom needs --base-url"),
    ("custom m sample --base-url localhost", "expected an address such as http://localhost:8000/v1"),
    ("custom '' sample --base-url http://h/v1", "is not a valid model name"),
    (f"{SERVED} --structured of", "is not one of"),
    (f"{SERVED} --temperature 3", "expected 0 to 2"),
    (f"{SERVED} --price-in 3", "must be given together"),
    (f"{SERVED} --price-in 1 --price-out 1e300", "0 to 1,000,000 dollars"),
    (f"{SERVED} --fit sample", "--fit applies only to built-in policies"),
    (f"{SERVED} --judge-provider openai", "need --judge-model"),
    (f"{SERVED} --concurrency 0", "concurrency"),
    ("builtin copy sample --samples 2", "--samples: only for models behind a server"),
    ("builtin copy sample --api-key sk-x --dry-run", "--api-key, --dry-run: only for models"),
])  # fmt: skip
def test_bad_usage_exits_with_2_and_a_hint_and_sends_nothing(
    tmp_path: Path, arguments: str, message: str
) -> None:
    out, err = attune_here(f"run {arguments} -o out", tmp_path, 2)
    assert message in err
    assert "sk-x" not in err
    assert (out, names(tmp_path)) == ("", [])


def test_an_option_of_servers_is_refused_for_others_also_where_it_is_0() -> None:
    with pytest.raises(SettingsError, match="--temperature, --retries, --max-cost, --dry-run: only"):
        refuse("builtin", Drawn(temperature=0.0), Asked(retries=0, max_cost=0.0, dry_run=True))
    refuse("builtin", Drawn(), Asked())


def test_bad_data_lists_every_problem_and_writes_nothing(tmp_path: Path) -> None:
    empty = with_annotations(pairwiseComparisons=[{"questionId": "general"}])
    path = folder(tmp_path / "data", {1: own(), 2: '{"conversationId": ', 3: empty})
    _, err = run(tmp_path, path, code=1)
    second, *third = [line for line in err.splitlines() if line.startswith("error: ")]
    assert second.startswith(f"error: {path}/conversation_2.json")
    for side, line in zip(("A", "B"), third, strict=True):
        assert line.startswith(f"error: {path}/conversation_3.json")
        assert f"pairwiseComparisons[0].response{side}" in line
    assert names(tmp_path) == ["data"]
    out, err = run(tmp_path, path, "--skip-invalid")
    assert out.startswith("wrote 1 results")
    assert err.splitlines()[-1] == "files left out: 2"
    assert len([line for line in err.splitlines() if line.startswith("left out: ")]) == 3


def test_a_path_with_a_space_under_test_samples_is_benchmark(tmp_path: Path) -> None:
    data_folder(tmp_path / "Test Samples" / "Sample200")
    out, _ = run(tmp_path, "Test Samples/Sample200")
    assert "--data 'Test Samples/Sample200'" in out
    for path in (tmp_path / "out").iterdir():
        assert read(path)["attune"]["data"]["provenance"] == "benchmark"


# --- models behind a server -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve(answers_of(DATA), price=(1.0, 2.0)) as running:
        yield running


def asked(place: Path, server: Server, *options: str | Path, code: int = 0) -> tuple[str, str]:
    server.calls.clear()
    command = ["run", "custom", "lab/m", "data", "--base-url", server.url, "-o", "out", *options]
    return attune_here(command, place, code)


def test_a_model_behind_a_server_plays_and_says_what_it_took(
    tmp_path: Path, data: Path, server: Server
) -> None:
    out, err = asked(tmp_path, server)
    lines, said = out.splitlines(), err.splitlines()
    assert lines[0] == "wrote 3 results to out; 0 were already complete"
    cost = sum(read(path)["api_cost"] for path in (tmp_path / "out").glob("c-*.json"))
    assert lines[1].startswith("27 calls, ")
    assert f"${cost:.4f}, errors 0.0%, parsed 100.0%" in lines[1]
    assert lines[2] == "next: attune score --results out --data data --output scores.json"
    assert said[:2] == [
        OWN_WORDING,
        "3 conversations to play, 27 calls",
    ]
    for number, line in zip((1, 2, 3), said[2:], strict=True):
        assert re.match(rf"{number}/3 c-\d default: complete; \d+/27 calls, [\d,]+ tokens in, ", line)
    again, _ = asked(tmp_path, server)
    assert again.startswith("wrote 0 results to out; 3 were already complete\nnext: ")
    assert not server.calls


def test_a_dry_run_says_what_it_would_take_and_sends_nothing(
    tmp_path: Path, data: Path, server: Server
) -> None:
    options = ("--modes", "default", "verbose", "--judge-model", "j", "--samples", "2")
    out, _ = asked(tmp_path, server, *options, "--dry-run", "--price-in", "1", "--price-out", "1")
    assert (server.calls, names(tmp_path)) == ([], ["data"])
    ((header, *modes),) = table_rows(out).values()
    found = [dict(zip(header, row, strict=True)) for row in modes]
    # 3 conversations x 9 calls x 2 samples; 2 turns x 3 x 2 for the judge
    assert [(row["mode"], row["calls"], row["judge calls"]) for row in found] == [
        ("default", "54", "12"), ("verbose", "54", "12"),
    ]  # fmt: skip
    asked(tmp_path, server, "--samples", "2")
    exact = sum(len(m["content"]) for call in server.calls for m in call.body["messages"]) / 4
    assert abs(int(found[0]["tokens in"]) / exact - 1) < 0.02


def test_only_what_was_skipped_is_run_again(tmp_path: Path, data: Path, server: Server) -> None:
    with serve(answers_of(small("c-1", "c-3"))) as poor:  # knows nothing of c-2
        out, err = asked(tmp_path, poor, code=1)
    assert out.startswith("wrote 2 results to out")
    assert "next:" not in out
    assert "c-2 default: skipped, c-2/" in err
    command = f"attune run custom lab/m data --base-url {poor.url} -o out"
    assert err.splitlines()[-1] == f"every answer is kept. Continue with: {command}"
    (tmp_path / "out" / "c-3_custom_lab_m_default.json").unlink()
    out, _ = asked(tmp_path, server, "--retry-skipped")
    assert out.startswith("wrote 1 results to out")
    assert [n for n in names(tmp_path / "out") if n.startswith("c-")] == [
        "c-1_custom_lab_m_default.json", "c-2_custom_lab_m_default.json",
    ]  # fmt: skip
    assert asked(tmp_path, server, "--retry-skipped")[0] == "no conversations were skipped in out\n"


@pytest.mark.parametrize(("typed", "spelt"), [
    ("run p m data --judge-model a b -o out", "run p m data --judge-model a --judge-model b -o out"),
    ("run p m --judge-model a data", "run p m --judge-model a data"),
    ("run p m data --modes default verbose", "run p m data --modes default --modes verbose"),
    ("run p m --modes default verbose data", "run p m --modes default --modes verbose data"),
    ("run p m data --limit 3 --mode=default", "run p m data --number 3 --modes=default"),
    ("run p m --data data -n 3", "run p m data -n 3"),
    ("evaluate p m -d data", "evaluate p m data"),
    ("rewards audit --spec skill -d sample", "rewards audit --reward skill -d sample"),
    ("subset a.json --ground-truth d", "subset a.json --data d"),
    ("score --results r --ground-truth=d --skip-invalid", "score --results r --data=d --skip-invalid"),
    ("view c-1 --modes default", "view c-1 --mode default"),
    ("report a.json b.json -o out", "report a.json b.json -o out"),
    ("report --scores a.json b.json", "report --scores a.json --scores b.json"),
    ("run p m data --nonsense x", "run p m data --nonsense x"),
    ("--version", "--version"),
])  # fmt: skip
def test_options_have_one_spelling_and_take_the_others(typed: str, spelt: str) -> None:
    assert spelt_out(typed.split()) == spelt.split()


def test_a_judge_may_be_elsewhere(tmp_path: Path, data: Path, server: Server) -> None:
    with serve(judge_answers(7)) as judge:
        asked(tmp_path, server, "--judge-model", "j", "--judge-base-url", judge.url)
    assert len(judge.calls) == 6
    assert {call.body["model"] for call in server.calls} == {"lab/m"}
    record = read(tmp_path / "out" / "c-1_custom_lab_m_default.json")
    assert record["turns"][0]["em_draft_judge_scores"]["helpfulness"] == 7


def test_options_reach_the_server(tmp_path: Path, data: Path) -> None:
    options = ("--temperature", "0", "--max-tokens", "77", "--seed", "4", "--structured", "off")
    with serve(answers_of(DATA, settings=Settings(seed=4))) as seeded:
        asked(tmp_path, seeded, *options, "--sampling-seed", "9")
    assert len(seeded.calls) == 27
    for call in seeded.calls:
        assert (call.body["temperature"], call.body["max_tokens"]) == (0, 77)
        assert "seed" in call.body
        assert "response_format" not in call.body


def test_a_price_is_that_of_the_evaluated_model_only() -> None:
    server = Asked(base_url="http://h/v1", price_in=1.0, price_out=2.0)
    both, capped = Judging(judge_model=["m", "other"]), replace(server, max_cost=1.0)
    (model,) = chosen_models("custom", ["m"], server, Drawn(), None)
    judges = chosen_judges(model, both, server)
    prices = [("m", Price(1.0, 2.0)), ("m", Price(1.0, 2.0)), ("other", None)]
    assert [(one.name, one.price) for one in (model, *judges)] == prices
    with pytest.raises(SettingsError, match='cost of the judge "other" is unknown'):
        chosen_judges(model, both, capped)
    assert len(chosen_judges(model, Judging(judge_model=["m"]), capped)) == 1


def test_the_command_to_go_on_holds_no_key() -> None:
    line = ["run", "openai", "m", "a b", "--api-key", "sk-1", "--limit", "2", "--api-key=sk-2"]
    endpoint = endpoint_of("custom", base_url="http://h/v1")
    assert again_command(line, endpoint) == "attune run openai m 'a b' --limit 2 --api-key …"


@pytest.mark.parametrize(("soft", "number", "then"), [
    (64, 256, 256 + BESIDE),
    (4096, 16, 4096),  # never fewer than before
    (64, 10**9, 8192),  # no more than the system lets it
])  # fmt: skip
def test_so_many_connections_may_be_open_as_there_are_requests_at_once(
    monkeypatch: pytest.MonkeyPatch, soft: int, number: int, then: int
) -> None:
    limits = [(soft, 8192)]
    monkeypatch.setattr(resource, "getrlimit", lambda kind: limits[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda kind, new: limits.append(new))
    allow_connections(number)
    assert limits[-1] == (then, 8192)
