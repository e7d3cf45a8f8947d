"""`attune rewards list | explain | audit`: the rewards, their parts, and attacks on them."""

from __future__ import annotations

from pathlib import Path

import typer

from attune_data.errors import SettingsError
from attune_env.cli import shared
from attune_env.cli.common import command_line, progress_bar, read_data
from attune_env.cli.options import CHOSEN, argument, command, option

app = typer.Typer(help="List, explain and audit rewards.", no_args_is_help=True)
AUDITED_BY = "made by attune rewards audit"
"""The marker in the first line of an audit written to a file."""


@command(app, "list")
def list_() -> None:
    """List the presets and the parts that rewards are made of.

    Example: attune rewards list
    """
    from attune_env.report.rewards import part_list, preset_list

    preset_list().print()
    part_list().print()


@command(app)
def explain(
    name: str = argument("A preset, a part, or a .json or .py file that defines a reward.", "NAME"),
) -> None:
    """Explain a reward (its tree, weights and baselines) or one part (what it scores and how).

    Example: attune rewards explain skill

    Example: attune rewards explain emotion_va
    """
    from attune_env.report.rewards import PARTS, explain_part, explain_reward
    from attune_rewards.spec_files import read_reward

    parts = [part.name for part in PARTS]
    table = explain_part(name) if name in parts else explain_reward(read_reward(name, also=parts))
    table.print()


@command(app)
def audit(
    data: str | None = option(
        "Conversations; by default, 500 simulated ones.", None, "-d", metavar="PATH", panel=CHOSEN
    ),
    spec: list[str] | None = option(
        "A reward to audit; may be repeated. By default, all presets.", metavar="PRESET|FILE"
    ),
    live: bool = option(
        "Audit live episodes instead, in which a simulated person responds.", False, "--live"
    ),
    output: Path | None = option("Also write the tables to this Markdown file.", None, "-o"),
    where: str | None = shared.WHERE,
    overwrite: bool = shared.OVERWRITE,
    skip_invalid: bool = shared.SKIP_INVALID,
) -> None:
    """Audit rewards with attacks and a search for exploits; the exit code is 1 if a reward fails.

    Plays the content-free and shallow policies, degenerate replies of the kind seen in training, and an
    adversary that searches for the best constant answers. A .py file is executed, so read it first. An audit
    takes at least five minutes of CPU time, mostly to play the policies, which is done once for all rewards.

    Example: attune rewards audit --spec skill

    Example: attune rewards audit --spec my_reward.py --data sample

    Example: attune rewards audit --live
    """
    from attune_env import audit as audits
    from attune_env.report.files import check_replaceable, write_markdown
    from attune_rewards.spec import PRESETS
    from attune_rewards.spec_files import read_reward

    if live and (data is not None or spec or where is not None or skip_invalid):
        raise SettingsError(
            "--live audits one reward on simulated people: leave out --data, --spec, --where, --skip-invalid"
        )
    if data is None and where is not None:
        raise SettingsError("--where filters the conversations of --data: give --data too")
    specs = [] if live else [read_reward(source) for source in spec or PRESETS]
    names = [one.name for one in specs]
    if len(set(names)) < len(names):
        raise SettingsError(f"two rewards have the same name: {', '.join(names)}; rename one")
    if output is not None:
        check_replaceable(output, AUDITED_BY, overwrite=overwrite)
    if live:
        with progress_bar("attacking", audits.live_policy_count(), lines=True) as step:
            lived = audits.live_audit(on_done=step)
        title, tables, failed = "Audit of live episodes", audits.live_tables(lived), bool(lived.reasons)
    else:
        if data is not None:
            world, conversations = None, read_data(data, skip_invalid=skip_invalid, where=where)
        else:
            world = audits.reference_world()
            conversations = world.take(audits.REFERENCE_SIZE)
        with progress_bar("attacking", audits.policy_count(len(specs)), lines=True) as step:
            found = audits.audit(conversations, specs, world=world, on_done=step)
        title, tables, failed = "Audit of the rewards", audits.audit_tables(found), bool(found.failed)
    for table in tables:
        table.print()
    if output is not None:
        typed = command_line("rewards", "audit", live=live, data=data, spec=spec or [], where=where)
        write_markdown(output, title, tables, AUDITED_BY, command=typed)
        print(f"wrote {output}")
    if failed:
        raise typer.Exit(1)
