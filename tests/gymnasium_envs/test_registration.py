"""The ids are there once Gymnasium is, whichever of the two is imported first."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import gymnasium
import pytest

from attune_episodes.gymnasium_envs.registration import ENVIRONMENTS, register_environments
from tests import PATIENCE

IDS = ["Attune/Conversation-v0", "Attune/Features-v0"]
REPORT = "print(json.dumps(sorted(i for i in gymnasium.registry if i.startswith('Attune/'))))"


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"import json, sys\n{code}"],
        capture_output=True, encoding="utf-8", timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "imports",
    [
        "import attune_env, gymnasium",
        "import gymnasium, attune_env",
        "import gymnasium.spaces\nimport attune_env",
        "import attune_env\nimport gymnasium.spaces",
        "import attune_env\nfrom gymnasium import make\nimport gymnasium",
        "import attune_env, gymnasium, importlib\nimportlib.reload(attune_env)",
        "import attune_env, importlib\nimportlib.reload(attune_env)\nimport gymnasium",
    ],
)
def test_the_ids_are_there_in_every_order_of_imports(imports: str) -> None:
    assert json.loads(run(f"{imports}\n{REPORT}")) == IDS


def test_make_imports_what_registers() -> None:
    code = (
        "import gymnasium\n"
        "env = gymnasium.make('attune_env:Attune/Conversation-v0', number=1)\n"
        "print(json.dumps(env.reset(seed=0)[1]['conversation_id']))"
    )
    assert json.loads(run(code)) == "sample-01"


def test_importing_the_package_loads_neither_gymnasium_nor_the_episodes() -> None:
    code = "import attune_env\nprint(json.dumps(sorted(sys.modules)))"
    assert {"gymnasium", "attune_episodes"}.isdisjoint(json.loads(run(code)))


def test_gymnasium_does_not_show_that_it_was_awaited() -> None:
    looks = (
        "s = gymnasium.__spec__\n"
        "print(json.dumps([type(s.loader).__name__, type(gymnasium.__loader__).__name__, s.origin, s.name,\n"
        "  gymnasium.__loader__ is s.loader, [repr(f) for f in sys.meta_path if 'Gym' in repr(f)],\n"
        "  list(s.submodule_search_locations)]))"
    )
    awaited = run(f"import attune_env, gymnasium\n{looks}")
    assert awaited == run(f"import gymnasium\n{looks}")
    assert json.loads(awaited)[5] == []


def test_without_gymnasium_everything_else_works() -> None:
    hide = (
        "class Hide:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'gymnasium':\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Hide())\n"
    )
    gone = "sys.path[:] = []\n"
    code = (
        "import attune_env\n"
        "from attune_env import load, rollout, builtin_policy\n"
        "print(rollout(load('sample')[0], builtin_policy('empty', load('sample'))).total >= 0)\n"
        "try:\n    import gymnasium\nexcept ModuleNotFoundError as error:\n    print(error.name)\n"
        "try:\n    import gymnasium\nexcept ModuleNotFoundError as error:\n    print(error.name)\n"
    )
    assert run(hide + code).split() == ["True", "gymnasium", "gymnasium"]
    missing = "try:\n    import gymnasium\nexcept ModuleNotFoundError as error:\n    print(error.name)\n"
    assert run(f"import attune_env\n{gone}{missing}").split() == ["gymnasium"]


def test_a_gymnasium_that_comes_later_is_still_met() -> None:
    code = (
        "import attune_env, importlib\n"
        "kept, sys.path[:] = list(sys.path), []\n"
        "try:\n    import gymnasium\nexcept ModuleNotFoundError as error:\n    pass\n"
        "sys.path[:] = kept\nimportlib.invalidate_caches()\nimport gymnasium\n" + REPORT
    )
    assert json.loads(run(code)) == IDS


def test_registering_twice_changes_nothing_and_warns_of_nothing(recwarn: Any) -> None:
    import attune_env  # noqa: F401

    register_environments()
    before = {name: gymnasium.registry[name] for name in IDS}
    register_environments()
    assert {name: gymnasium.registry[name] for name in IDS} == before
    assert len(recwarn) == 0
    assert sorted(ENVIRONMENTS) == IDS


def test_specs_name_their_entry_points_as_texts() -> None:
    register_environments()
    for name in IDS:
        spec = gymnasium.spec(name)
        assert isinstance(spec.entry_point, str)
        assert json.loads(spec.to_json())["id"] == name
    assert gymnasium.spec(IDS[1]).vector_entry_point == (
        "attune_episodes.gymnasium_envs.vector_env:FeaturesVectorEnv"
    )
