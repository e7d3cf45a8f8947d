"""`attune rewards list | explain | audit`: the rewards, their parts, and attacks on them."""

from __future__ import annotations

import math
import sys
from itertools import pairwise
from pathlib import Path
from time import monotonic
from typing import Final

import typer

from attune_data.errors import SettingsError
from attune_env.cli import shared
from attune_env.cli.common import command_line, print_json, progress_bar, read_data
from attune_env.cli.options import CHOSEN, argument, command, option

app = typer.Typer(help="List, explain and audit rewards.", no_args_is_help=True)
ESTIMATED_AFTER: Final = (3, 15)
"""After how many policies the duration of an audit is estimated; the first also fits what the others need."""
AUDITED_BY = "made by attune rewards audit"
"""The marker in the first line of an audit written to a file."""


@command(app, "list")
def list_() -> None:
    """List the presets and the parts that rewards are made of.

    Example: attune rewards list
    """
    from attune_env.tables.rewards import part_list, preset_list

    preset_list().print()
    part_list().print()


@command(app)
def explain(
    name: str = argument(
        "A preset, a part, a .json or .py file that defines a reward, or module:NAME.", "NAME"
    ),
) -> None:
    """Explain a reward (its tree, weights and baselines) or one part (what it scores and how).

    Example: attune rewards explain skill

    Example: attune rewards explain emotion_va
    """
    from attune_env.tables.rewards import PARTS, explain_part, explain_reward
    from attune_rewards.reward.spec_files import read_reward

    parts = [part.name for part in PARTS]
    table = explain_part(name) if name in parts else explain_reward(read_reward(name, also=parts))
    table.print()


@command(app)
def audit(
    data: str = option("Conversations to play.", "written", "-d", metavar="DATA", panel=CHOSEN),
    reward: list[str] | None = option(
        "A reward to audit; may be repeated. By default, all presets.", metavar="PRESET|FILE|MODULE:NAME"
    ),
    output: Path | None = option(
        "Also write this file: the JSON if its name ends in .json, else the tables as Markdown.", None, "-o"
    ),
    as_json: bool = option("Print JSON, with OpenEnv's checks, instead of tables.", False, "--json"),
    where: str | None = shared.WHERE,
    overwrite: bool = shared.OVERWRITE_FILE,
    skip_invalid: bool = shared.SKIP_INVALID,
) -> None:
    """Audit rewards with attacks and a search for exploits; the exit code is 1 if a reward fails.

    First checks that every part gives 1 to the annotations' own answers (except for drafts, where none is
    right) and 0 to silence, and stops with exit code 1 where one does not. Then plays the content-free and
    shallow policies, degenerate replies of the kind seen in training, and an adversary that searches for the
    best constant answers, and estimates how long that takes. A .py file or module is executed, so read it
    first.

    Example: attune rewards audit --reward skill

    Example: attune rewards audit --reward my_reward.py --data sample

    Example: attune rewards audit --reward my_reward.py --json
    """
    from attune_env.audit import audit as play_attacks
    from attune_env.audit import audit_record, audit_tables, is_audit, policy_count, total_seconds
    from attune_env.results import check_replaceable as check_json
    from attune_env.results import write_json
    from attune_env.tables.markdown import check_replaceable, write_markdown
    from attune_rewards.reward.spec import PRESETS
    from attune_rewards.reward.spec_files import read_reward

    specs = [read_reward(source) for source in reward or PRESETS]
    names = [one.name for one in specs]
    if len(set(names)) < len(names):
        raise SettingsError(f"two rewards have the same name: {', '.join(names)}; rename one")
    to_json = output is not None and output.suffix == ".json"
    if output is not None and not to_json:
        check_replaceable(output, AUDITED_BY, overwrite=overwrite)
    elif output is not None and not overwrite:
        check_json(output, is_audit, "report of an audit")
    conversations = read_data(data, skip_invalid=skip_invalid, where=where)
    policies = policy_count(len(specs))
    what = f"{', '.join(names)} on {len(conversations)} conversations"
    print(f"auditing {what}: first right answers and silence, then {policies} policies", file=sys.stderr)
    with progress_bar("attacking", policies, lines=True) as step:
        times = [monotonic()]

        def played() -> None:
            step()
            times.append(monotonic())
            if len(times) - 1 in ESTIMATED_AFTER:
                minutes = total_seconds([after - before for before, after in pairwise(times)]) / 60
                print(f"about {math.ceil(minutes)} min in all", file=sys.stderr, flush=True)

        found = play_attacks(conversations, specs, on_done=played)
    tables, record = audit_tables(found), audit_record(found)
    if as_json:
        print_json(record)
    else:
        for table in tables:
            table.print()
    if output is not None:
        if to_json:
            write_json(output, record)
        else:
            typed = command_line("rewards", "audit", data=data, reward=reward or [], where=where)
            write_markdown(output, "Audit of the rewards", tables, AUDITED_BY, command=typed)
        print(f"wrote {output}", file=sys.stderr if as_json else sys.stdout)
    if found.failed:
        raise typer.Exit(1)
