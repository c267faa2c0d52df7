"""The command under test, the servers it loads, and what is looked at from outside of both."""

import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import parts
from machines import ADDRESSES, CONTROL, NODES, TARGET, BRIDGE, inside, run

PORT = 8080
URL = f"http://{ADDRESSES[TARGET]}:{PORT}"
# From the creation of a Job to its load: pods need one to three seconds of it.
START_AFTER_S = 12
ENDS_WITHIN_S = 300


class Loads:
    def __init__(self, programs, cluster):
        self.threadcount, self.truth, self.cluster = programs / "threadcount", parts.truth(cluster.folder), cluster
        self.user = "admin"

    @contextmanager
    def server(self, *flags):
        """A server of known response times. Once it is stopped, its `served` has what it counted."""
        command = [self.truth, *flags, "--address", ADDRESSES[TARGET], "--port", str(PORT)]
        # It keeps its times also where the pods and whatever else runs here have all cores busy.
        process = subprocess.Popen(inside(TARGET, "chrt", "--fifo", "1", *command), stdout=subprocess.PIPE, text=True, start_new_session=True)
        server = Server(process)
        try:
            assert process.stdout.readline().strip() == str(PORT), "the server under test does not listen"
            yield server
        finally:
            server.stop()

    def threadcount_as_user(self, *arguments):
        return inside(CONTROL, "env", f"KUBECONFIG={self.cluster.keys}/{self.user}.kc", self.threadcount, *arguments)

    def command(self, *flags, namespace, start_after_s):
        return self.threadcount_as_user("load", URL, "--kubernetes", "--namespace", namespace, "--start-after", f"{start_after_s}s", "--json", *flags)

    def run(self, *flags, **options):
        with self.running(*flags, **options) as load:
            return load.result()

    @contextmanager
    def running(self, *flags, namespace="default", start_after_s=START_AFTER_S):
        """A load that was just started."""
        command = self.command(*flags, namespace=namespace, start_after_s=start_after_s)
        with self.started(command, namespace, start_after_s) as load:
            yield load

    @contextmanager
    def session(self, command, *flags):
        """`threadcount run` or `compare` that was just started."""
        out = Path(tempfile.mkdtemp(dir=self.cluster.folder))
        namespace = flags[flags.index("--namespace") + 1] if "--namespace" in flags else "default"
        line = self.threadcount_as_user(command, *flags, "--kubernetes", "--start-after", f"{START_AFTER_S}s", "--out", out)
        with self.started(line, namespace, START_AFTER_S) as session:
            session.out_folder = out
            yield session

    @contextmanager
    def started(self, command, namespace, start_after_s):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        load = Load(self.cluster, process, namespace, start_after_s)
        try:
            yield load
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            load.join()

    def nothing_is_left(self):
        def left():
            return self.cluster.kubectl("get", "jobs,pods", "-A", "-o", "name").strip()
        self.cluster.wait("pods to go", lambda: not left())


class Server:
    def __init__(self, process):
        self.process, self.served = process, None

    def stop(self):
        if self.served is None:
            self.process.terminate()
            self.served = json.loads(self.process.communicate(timeout=30)[0].splitlines()[-1])
        return self.served


class Outcome:
    """The exit code of a load, its JSON, and what it said."""

    def __init__(self, code, document, words):
        self.code, self.document, self.words = code, document, words

    def requests(self):
        return self.document["requests"]

    def pods(self):
        return self.document["pods"]

    def __str__(self):
        shown = {key: self.document[key] for key in ["requests", "warnings", "pods"]} if self.document else None
        return f"exit code {self.code}\n{self.words}\n{json.dumps(shown, indent=1)}"


class Load:
    """`threadcount load --kubernetes` while it runs. Its logs are also read by kubectl, to compare."""

    def __init__(self, cluster, process, namespace, start_after_s):
        self.cluster, self.process, self.namespace, self.start_after_s = cluster, process, namespace, start_after_s
        self.began, self.out, self.words = time.monotonic(), "", ""
        self.readers = [threading.Thread(target=self.read_out), threading.Thread(target=self.read_words)]
        for reader in self.readers:
            reader.start()

    def read_out(self):
        self.out = self.process.stdout.read()

    def read_words(self):
        for line in self.process.stderr:
            self.words += line

    def join(self):
        for reader in self.readers:
            reader.join()

    def pod_names(self):
        return sorted(self.cluster.kubectl("get", "pods", "-n", self.namespace, "-o", "name").split())

    def wait_for_pods(self, count):
        def are_running():
            self.goes_on()
            states = self.cluster.kubectl("get", "pods", "-n", self.namespace, "--no-headers")
            return states.count(" Running ") == count
        self.cluster.wait(f"{count} pods to run", are_running, self.start_after_s)
        return [name.removeprefix("pod/") for name in self.pod_names()]

    def wait_until_said(self, words):
        """Until they are on standard error."""
        def are_said():
            self.goes_on()
            return words in self.words
        self.cluster.wait(f"{words} to be said", are_said, 120)

    def goes_on(self):
        assert self.process.poll() is None, f"it ended with {self.process.returncode}:\n{self.words}"

    def wait_for_load(self, seconds=3):
        """Until so many seconds of it are over."""
        time.sleep(max(0.0, self.began + self.start_after_s + seconds - time.monotonic()))

    def node_of(self, pod):
        return self.cluster.kubectl("get", "pod", pod, "-n", self.namespace, "-o", "jsonpath={.spec.nodeName}")

    @contextmanager
    def logs(self, pods):
        """The logs of these pods, followed to their ends: a list that is complete afterwards."""
        command = [inside(CONTROL, "kubectl", "--kubeconfig", self.cluster.keys / "admin.kc", "logs", "-f", "-n", self.namespace, pod) for pod in pods]
        readers = [subprocess.Popen(it, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for it in command]
        texts = []
        gatherers = [threading.Thread(target=lambda it=it: texts.append(it.stdout.read().decode())) for it in readers]
        for gatherer in gatherers:
            gatherer.start()
        try:
            yield texts
        finally:
            for gatherer, reader in zip(gatherers, readers):
                gatherer.join(60)
                reader.kill()
                reader.wait()

    def result(self):
        code = self.process.wait(ENDS_WITHIN_S)
        self.join()
        return Outcome(code, json.loads(self.out) if self.out else None, self.words)

    def interrupt(self):
        # The process is that of nsenter, which becomes env, which becomes threadcount.
        self.process.send_signal(signal.SIGINT)

    def kill_process_of(self, pod):
        """SIGKILL for the process in a pod's container."""
        for process in Path("/proc").glob("[0-9]*"):
            try:
                environment = (process / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if f"POD_NAME={pod}".encode() in environment:
                os.kill(int(process.name), signal.SIGKILL)
                return
        raise AssertionError(f"there is no process of {pod}")


@contextmanager
def cut_off(node):
    """The cable of a node is pulled."""
    machine = NODES[int(node.removeprefix("n")) - 1]
    run("ip", "-n", BRIDGE, "link", "set", f"v{machine}", "down")
    try:
        yield
    finally:
        run("ip", "-n", BRIDGE, "link", "set", f"v{machine}", "up")


def adds_up(outcome):
    """Each request is accounted for, in the total as in each pod, and the total is the sum."""
    assert outcome.document, outcome
    whole = outcome.requests()
    for counts in [whole, *[pod["requests"] for pod in outcome.pods()]]:
        assert counts["sent"] == counts["ok"] + counts["failed"] + counts["unfinished"], outcome


def is_whole(outcome):
    adds_up(outcome)
    assert all(pod["complete"] and not pod["interrupted"] and pod["lost_lines"] == 0 for pod in outcome.pods()), outcome
    assert max(pod["started_ms"] for pod in outcome.pods()) <= 50, outcome
    for key in ["sent", "ok", "failed", "unfinished"]:
        assert outcome.requests()[key] == sum(pod["requests"][key] for pod in outcome.pods()), outcome
