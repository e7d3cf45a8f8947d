"""How many scripted participants at once a study serves before a page takes over a second."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from attune_env.study.events import Store
from attune_env.study.folder import new_study, read_study
from attune_env.study.scripted import play_all
from tests.bench.measuring import told

AT_ONCE = (10, 20, 40, 80, 160)
MOST_SECONDS = 1.0


def study_speed() -> None:
    """Prints the slowest page of each participant for more and more of them, until one takes too long."""
    with tempfile.TemporaryDirectory() as folder:
        study = read_study(new_study(Path(folder) / "study").parent)
        command = [sys.executable, "-m", "attune_env", "study", "serve", str(study.folder), "--port", "0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert server.stdout is not None
            url = server.stdout.readline().split()[-1]
            with Store(study.database) as store:
                for number in AT_ONCE:
                    links = [store.link(store.invite(time.time() + 3_600)) for _ in range(number)]
                    begun = time.monotonic()
                    people = play_all([f"{url}/{link}" for link in links], at_once=number)
                    took = time.monotonic() - begun
                    slowest = [person.slowest for person in people]
                    print(
                        f"{number} participants at once: slowest page {told(slowest)} s, all in {took:.0f} s"
                    )
                    if max(slowest) > MOST_SECONDS:
                        break
        finally:
            server.terminate()
            server.wait()
            if server.stdout is not None:
                server.stdout.close()


if __name__ == "__main__":
    study_speed()
