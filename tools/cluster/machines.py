"""Network namespaces as machines, and the processes of a cluster in them. Nothing of it has a way out: there is no default route."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

from parts import run

CONTROL, NODES, TARGET, BRIDGE = "tcc", ["tcn1", "tcn2"], "tct", "tcb"
ADDRESSES = {CONTROL: "10.77.0.1", "tcn1": "10.77.0.2", "tcn2": "10.77.0.3", TARGET: "10.77.0.4"}
READY_WITHIN_S = 90
END_WITHIN_S = 20


class Machines:
    """The namespaces."""

    def __enter__(self):
        existing = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout.split()
        clash = [name for name in [BRIDGE, *ADDRESSES] if name in existing]
        if clash:
            raise SystemExit(f"cluster-test: the network namespace {clash[0]} exists; is another test running? ip netns del {clash[0]}")
        run("ip", "netns", "add", BRIDGE)
        run("ip", "-n", BRIDGE, "link", "add", "br0", "type", "bridge")
        run("ip", "-n", BRIDGE, "link", "set", "br0", "up")
        for name, address in ADDRESSES.items():
            run("ip", "netns", "add", name)
            run("ip", "link", "add", f"v{name}", "type", "veth", "peer", "name", "eth0", "netns", name)
            run("ip", "link", "set", f"v{name}", "netns", BRIDGE)
            run("ip", "-n", BRIDGE, "link", "set", f"v{name}", "master", "br0", "up")
            run("ip", "-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
            run("ip", "-n", name, "link", "set", "eth0", "up")
            run("ip", "-n", name, "link", "set", "lo", "up")
            routes = subprocess.run(["ip", "-n", name, "route"], capture_output=True, text=True).stdout
            assert "default" not in routes, routes
        return self

    def __exit__(self, *_):
        for name in [*ADDRESSES, BRIDGE]:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


def inside(namespace, *command):
    """A command in a namespace. Not `ip netns exec`: that hides the control groups."""
    return ["nsenter", f"--net=/run/netns/{namespace}", *[str(part) for part in command]]


class Cluster:
    """One control plane, two nodes, and a server to load."""

    def __init__(self, folder, programs):
        self.folder, self.programs, self.processes = Path(folder), programs, []
        self.keys = self.folder / "pki"

    def __enter__(self):
        try:
            self.control_plane()
            for number, node in enumerate(NODES, 1):
                self.node(number, node)
            self.wait("two nodes to be ready", lambda: self.kubectl("get", "nodes", "--no-headers").count(" Ready") == 2)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        """The newest first; what does not end is killed. Then the mounts of containers."""
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(END_WITHIN_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for mount in sorted(self.mounts(), reverse=True):
            subprocess.run(["umount", "--lazy", mount], capture_output=True)
        self.left_over()

    def mounts(self):
        lines = Path("/proc/mounts").read_text().splitlines()
        return [line.split()[1] for line in lines if line.split()[1].startswith(str(self.folder))]

    def left_over(self):
        """Shims of containers outlive containerd: those of this folder are ended."""
        for process in Path("/proc").glob("[0-9]*"):
            try:
                command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if str(self.folder) in command and int(process.name) != os.getpid():
                os.kill(int(process.name), signal.SIGKILL)

    def start(self, name, namespace, *command):
        log = open(self.folder / f"{name}.log", "w")
        process = subprocess.Popen(inside(namespace, *command), stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def wait(self, what, condition):
        until = time.monotonic() + READY_WITHIN_S
        while not condition():
            if time.monotonic() > until:
                raise SystemExit(f"cluster-test: waited {READY_WITHIN_S} s for {what}; the logs are in {self.folder}")
            time.sleep(0.25)

    def kubectl(self, *arguments):
        command = inside(CONTROL, "kubectl", "--kubeconfig", self.keys / "admin.kc", *arguments)
        return subprocess.run(command, capture_output=True, text=True).stdout

    def control_plane(self):
        keys, programs = self.keys, self.programs
        etcd = "http://127.0.0.1:2379"
        self.start("etcd", CONTROL, "etcd", "--data-dir", self.folder / "etcd", "--listen-client-urls", etcd, "--advertise-client-urls",
                   etcd, "--listen-peer-urls", "http://127.0.0.1:2380")
        time.sleep(1)
        self.api = self.start(
            "api", CONTROL, programs / "kube-apiserver", "--kubelet-preferred-address-types=InternalIP",
            f"--advertise-address={ADDRESSES[CONTROL]}", "--secure-port=6443", f"--etcd-servers={etcd}",
            f"--tls-cert-file={keys}/api.crt", f"--tls-private-key-file={keys}/api.key", f"--client-ca-file={keys}/ca.crt",
            f"--kubelet-client-certificate={keys}/admin.crt", f"--kubelet-client-key={keys}/admin.key",
            f"--service-account-key-file={keys}/sa.pub", f"--service-account-signing-key-file={keys}/sa.key",
            f"--service-account-issuer=https://{ADDRESSES[CONTROL]}:6443", "--service-cluster-ip-range=10.99.0.0/24",
            "--authorization-mode=Node,RBAC", "--disable-admission-plugins=ServiceAccount", "--shutdown-delay-duration=0")
        self.wait("the API server", lambda: self.kubectl("get", "--raw", "/readyz") == "ok")
        self.start("kcm", CONTROL, programs / "kube-controller-manager", f"--kubeconfig={keys}/admin.kc",
                   f"--service-account-private-key-file={keys}/sa.key", f"--root-ca-file={keys}/ca.crt", "--leader-elect=false")
        self.start("scheduler", CONTROL, programs / "kube-scheduler", f"--kubeconfig={keys}/admin.kc", "--leader-elect=false")

    def node(self, number, namespace):
        home = self.folder / f"n{number}"
        (home / "cni").mkdir(parents=True)
        (home / "podlogs").mkdir()
        socket = home / "containerd.sock"
        (home / "containerd.toml").write_text(
            f'version = 2\nroot = "{home}/root"\nstate = "{home}/state"\n[grpc]\n  address = "{socket}"\n'
            '[plugins."io.containerd.grpc.v1.cri"]\n  restrict_oom_score_adj = true\n  sandbox_image = "localhost/pause:1"\n'
            f'  [plugins."io.containerd.grpc.v1.cri".cni]\n    conf_dir = "{home}/cni"\n')
        (home / "cni" / "10.conflist").write_text('{"cniVersion":"0.4.0","name":"x","plugins":[{"type":"loopback"}]}')
        (home / "kubelet.json").write_text(json.dumps({
            "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
            "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True},
                               "x509": {"clientCAFile": f"{self.keys}/ca.crt"}},
            "authorization": {"mode": "Webhook"}, "tlsCertFile": f"{self.keys}/n{number}.crt",
            "tlsPrivateKeyFile": f"{self.keys}/n{number}.key", "containerRuntimeEndpoint": f"unix://{socket}",
            "cgroupDriver": "cgroupfs", "cgroupsPerQOS": False, "enforceNodeAllocatable": [], "failSwapOn": False,
            "failCgroupV1": False, "podLogsDir": f"{home}/podlogs"}))
        self.start(f"containerd{number}", namespace, "containerd", "-c", home / "containerd.toml")
        answers = ["ctr", "-a", str(socket), "version"]
        self.wait("containerd", lambda: subprocess.run(answers, capture_output=True).returncode == 0)
        for image in ["pause", "threadcount"]:
            run("ctr", "-a", socket, "-n", "k8s.io", "images", "import", self.folder / f"{image}.tar", capture_output=True)
        self.start(f"kubelet{number}", namespace, self.programs / "kubelet", f"--config={home}/kubelet.json",
                   f"--kubeconfig={self.keys}/n{number}.kc", f"--hostname-override=n{number}",
                   f"--node-ip={ADDRESSES[namespace]}", f"--root-dir={home}/kubelet", f"--cert-dir={home}/kubelet-pki")
