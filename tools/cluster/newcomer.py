"""What docs/how-to/many-machines.md tells a new user to type, typed as it stands there."""

import json
import os
import re
import subprocess
from pathlib import Path

from loads import URL, Outcome, is_whole
from machines import CONTROL, NODES, inside
from registry import Checks

CHECKS = Checks()
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "many-machines.md"
# The service of the page: no name of a cluster is known here.
SHOP = "http://shop.perf.svc:8080"


def block(language, beginning):
    """A block of the page."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    return next(it for it in blocks if it.startswith(beginning))


@CHECKS.add
def the_five_commands_of_the_page_lead_to_a_load(loads):
    commands = [line.split("  #")[0].strip() for line in block("sh", "sudo ctr").splitlines()]
    assert len(commands) == 5, commands
    folder = loads.cluster.folder
    (folder / "role.yaml").write_text(block("yaml", "apiVersion: rbac"))
    with loads.server():
        for number in range(1, len(NODES) + 1):
            address = {"CONTAINERD_ADDRESS": f"{folder}/n{number}/containerd.sock"}
            succeeds("ctr -n k8s.io images rm --sync $(ctr -n k8s.io images ls -q | grep threadcount)", folder, **address)
            succeeds(commands[0].removeprefix("sudo "), folder, **address)
        for command in commands[1:3]:
            typed(loads, command, "admin")
        job = typed(loads, commands[3], "dev").stdout
        assert "kind: Job" in job and "namespace: perf" in job, job
        done = typed(loads, f"{commands[4]} --json", "dev")
    outcome = Outcome(done.returncode, json.loads(done.stdout), done.stderr)
    is_whole(outcome)
    assert outcome.requests()["sent"] + outcome.requests()["not_sent"] == 10_000, outcome


def typed(loads, command, user):
    """A command of this user."""
    path = f"{loads.threadcount.parent}:{os.environ['PATH']}"
    line = inside(CONTROL, "env", f"KUBECONFIG={loads.cluster.keys}/{user}.kc", f"PATH={path}", "sh", "-c", command.replace(SHOP, URL))
    return succeeds(line, loads.cluster.folder)


def succeeds(command, folder, **environment):
    done = subprocess.run(command, shell=isinstance(command, str), cwd=folder, capture_output=True, text=True, env=os.environ | environment)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done
