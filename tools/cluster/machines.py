"""Network namespaces as machines, and the processes of a cluster in them. Nothing of it has a way out: there is no default route."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from parts import CNI, run

CONTROL, NODES, TARGET, BRIDGE = "tcc", ["tcn1", "tcn2"], "tct", "tcb"
ADDRESSES = {CONTROL: "10.77.0.1", "tcn1": "10.77.0.2", "tcn2": "10.77.0.3", TARGET: "10.77.0.4"}
NETWORK = "10.77.0.0/24"
READY_WITHIN_S = 90
END_WITHIN_S = 20
CGROUPS = Path("/sys/fs/cgroup")
NAMESPACES = Path("/run/netns")
# What a kubelet and the programs of the network make whatever their folders are.
FIXED_FOLDERS = [Path(name) for name in ["/var/lib/kubelet", "/var/lib/cni", "/var/log/containers", "/var/log/pods"]]


def pods_of(number):
    """The addresses of a node's pods."""
    return f"10.78.{number}.0/24"


def inside(namespace, *command):
    """A command in a namespace. Not `ip netns exec`: that hides the control groups."""
    return ["nsenter", f"--net={NAMESPACES}/{namespace}", *[str(part) for part in command]]


class Machines:
    """The namespaces."""

    def __enter__(self):
        clash = [name for name in [BRIDGE, *ADDRESSES] if (NAMESPACES / name).exists()]
        if clash:
            raise SystemExit(f"cluster-test: the network namespace {clash[0]} exists; is another test running? ip netns del {clash[0]}")
        try:
            self.make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def make(self):
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
            for number, node in enumerate(NODES, 1):
                if node != name:
                    run("ip", "-n", name, "route", "add", pods_of(number), "via", ADDRESSES[node])
            routes = subprocess.run(["ip", "-n", name, "route"], capture_output=True, text=True, check=True).stdout
            assert "default" not in routes, routes
        for node in NODES:
            run(*inside(node, "sysctl", "--quiet", "net.ipv4.ip_forward=1"))

    def __exit__(self, *_):
        for name in [*ADDRESSES, BRIDGE]:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


class Cluster:
    """One control plane and two nodes. What its processes print is in files of the folder."""

    def __init__(self, folder, programs):
        self.folder, self.programs, self.processes = Path(folder), programs, {}
        self.keys = self.folder / "pki"
        self.groups_before, self.namespaces_before = control_groups(), set(NAMESPACES.iterdir())
        self.new_folders = [folder for folder in FIXED_FOLDERS if not folder.exists()]

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
        """The newest first; what does not end is killed. Then what containers leave behind that nobody ended."""
        for name in reversed(list(self.processes)):
            self.end(name)
        self.kill_left_over()
        for mount in sorted(self.mounts(), reverse=True):
            subprocess.run(["umount", "--lazy", mount], capture_output=True)
        for namespace in set(NAMESPACES.iterdir()) - self.namespaces_before:
            subprocess.run(["ip", "netns", "del", namespace.name], capture_output=True)
        for link in Path("/var/log/containers").glob("*.log"):
            if str(self.folder) in os.readlink(link):
                link.unlink()
        for folder in self.new_folders:
            shutil.rmtree(folder, ignore_errors=True)
        for group in sorted(control_groups() - self.groups_before, reverse=True):
            try:
                group.rmdir()
            except OSError:
                # Another program's, that was made meanwhile.
                pass

    def what_is_left(self):
        """Processes, mounts, namespaces and control groups that were not there before."""
        namespaces = sorted(str(it) for it in set(NAMESPACES.iterdir()) - self.namespaces_before)
        groups = sorted(str(it) for it in control_groups() - self.groups_before if "k8s" in str(it) or "kube" in str(it))
        folders = [str(folder) for folder in self.new_folders if folder.exists()]
        return [f"process {pid}: {command}" for pid, command in self.of_this_folder()] + self.mounts() + namespaces + groups + folders

    def mounts(self):
        points = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
        return [point for point in points if point.startswith(str(self.folder))]

    def of_this_folder(self):
        for process in Path("/proc").glob("[0-9]*"):
            try:
                command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if str(self.folder) in command and int(process.name) != os.getpid():
                yield int(process.name), command

    def kill_left_over(self):
        """The shims of containers outlive containerd, and what runs in the containers outlives the shims."""
        shims = [pid for pid, _ in self.of_this_folder()]
        for pid in [child for shim in shims for child in children(shim)] + shims:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        until = time.monotonic() + END_WITHIN_S
        while any(Path(f"/proc/{pid}/exe").exists() for pid in shims) and time.monotonic() < until:
            time.sleep(0.1)

    def start(self, name, namespace, *command):
        """A process of its own group: Ctrl-C at the terminal is for the test, which ends it in order."""
        with open(self.folder / f"{name}.log", "a") as log:
            process = subprocess.Popen(inside(namespace, *command), stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                       start_new_session=True)
        self.processes[name] = process
        return process

    def end(self, name, by=signal.SIGTERM):
        process = self.processes.pop(name)
        process.send_signal(by)
        try:
            process.wait(END_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def wait(self, what, condition, within_s=READY_WITHIN_S):
        until = time.monotonic() + within_s
        while not condition():
            if time.monotonic() > until:
                raise AssertionError(f"waited {within_s} s for {what}")
            time.sleep(0.25)

    def kubectl(self, *arguments, user="admin", given=None):
        """What it prints; empty where it fails."""
        command = inside(CONTROL, "kubectl", "--kubeconfig", self.keys / f"{user}.kc", *arguments)
        return subprocess.run(command, input=given, capture_output=True, text=True).stdout

    def apply(self, *objects):
        """Makes objects in the cluster."""
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
        run(*inside(CONTROL, "kubectl", "--kubeconfig", self.keys / "admin.kc", "apply", "-f", "-"), input=text.encode(), capture_output=True)

    def control_plane(self):
        etcd = "http://127.0.0.1:2379"
        self.start("etcd", CONTROL, "etcd", "--data-dir", self.folder / "etcd", "--listen-client-urls", etcd, "--advertise-client-urls",
                   etcd, "--listen-peer-urls", "http://127.0.0.1:2380")
        self.api_server(etcd)
        self.controllers()
        self.start("scheduler", CONTROL, self.programs / "kube-scheduler", f"--kubeconfig={self.keys}/admin.kc", "--leader-elect=false")

    def controllers(self):
        keys = self.keys
        self.start("controllers", CONTROL, self.programs / "kube-controller-manager", f"--kubeconfig={keys}/admin.kc",
                   f"--service-account-private-key-file={keys}/sa.key", f"--root-ca-file={keys}/ca.crt", "--leader-elect=false")

    def restart_controllers(self):
        self.end("controllers", by=signal.SIGKILL)
        self.controllers()

    def api_server(self, etcd="http://127.0.0.1:2379"):
        keys = self.keys
        self.start(
            "api", CONTROL, self.programs / "kube-apiserver", "--kubelet-preferred-address-types=InternalIP",
            f"--advertise-address={ADDRESSES[CONTROL]}", "--secure-port=6443", f"--etcd-servers={etcd}",
            f"--tls-cert-file={keys}/api.crt", f"--tls-private-key-file={keys}/api.key", f"--client-ca-file={keys}/ca.crt",
            f"--kubelet-client-certificate={keys}/admin.crt", f"--kubelet-client-key={keys}/admin.key",
            f"--service-account-key-file={keys}/sa.pub", f"--service-account-signing-key-file={keys}/sa.key",
            f"--service-account-issuer=https://{ADDRESSES[CONTROL]}:6443", "--service-cluster-ip-range=10.99.0.0/24",
            "--authorization-mode=Node,RBAC", "--disable-admission-plugins=ServiceAccount", "--shutdown-delay-duration=0")
        self.wait("the API server", lambda: self.kubectl("get", "--raw", "/readyz") == "ok")

    def node(self, number, namespace):
        home = self.folder / f"n{number}"
        (home / "cni").mkdir(parents=True)
        (home / "podlogs").mkdir()
        (home / "containerd.toml").write_text(containerd_config(home))
        (home / "cni" / "10.conflist").write_text(json.dumps(network_config(number, home)))
        (home / "kubelet.json").write_text(json.dumps(self.kubelet_config(number, home)))
        self.start(f"containerd{number}", namespace, "containerd", "-c", home / "containerd.toml")
        answers = ["ctr", "-a", f"{home}/containerd.sock", "version"]
        self.wait("containerd", lambda: subprocess.run(answers, capture_output=True).returncode == 0)
        self.import_image(number, "pause.tar")
        self.start(f"kubelet{number}", namespace, self.programs / "kubelet", f"--config={home}/kubelet.json",
                   f"--kubeconfig={self.keys}/n{number}.kc", f"--hostname-override=n{number}",
                   f"--node-ip={ADDRESSES[namespace]}", f"--root-dir={home}/kubelet", f"--cert-dir={home}/kubelet-pki")

    def import_image(self, number, file):
        socket = self.folder / f"n{number}" / "containerd.sock"
        run("ctr", "-a", socket, "-n", "k8s.io", "images", "import", self.folder / file, capture_output=True)

    def kubelet_config(self, number, home):
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
            "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True},
                               "x509": {"clientCAFile": f"{self.keys}/ca.crt"}},
            "authorization": {"mode": "Webhook"}, "tlsCertFile": f"{self.keys}/n{number}.crt",
            "tlsPrivateKeyFile": f"{self.keys}/n{number}.key", "containerRuntimeEndpoint": f"unix://{home}/containerd.sock",
            "cgroupDriver": "cgroupfs", "cgroupsPerQOS": False, "enforceNodeAllocatable": [], "failSwapOn": False,
            "failCgroupV1": False, "podLogsDir": f"{home}/podlogs",
            # A disk that others have filled to 85 % is no reason to evict the pods of a test.
            "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"}}


def containerd_config(home):
    return f'''version = 2
root = "{home}/root"
state = "{home}/state"
[grpc]
  address = "{home}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  # Where root lacks CAP_SYS_RESOURCE.
  restrict_oom_score_adj = true
  sandbox_image = "localhost/pause:1"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{CNI}"
    conf_dir = "{home}/cni"
'''


def network_config(number, home):
    """A bridge on the node, and from its pods a way to the machines and to the other node's pods. Nowhere else."""
    ways = [{"dst": NETWORK}, {"dst": "10.78.0.0/16"}]
    addresses = {"type": "host-local", "ranges": [[{"subnet": pods_of(number)}]], "routes": ways, "dataDir": f"{home}/addresses"}
    bridge = {"type": "bridge", "bridge": "pods", "isGateway": True, "ipam": addresses}
    return {"cniVersion": "0.4.0", "name": "pods", "plugins": [bridge]}


def children(pid):
    """All processes below one."""
    try:
        direct = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid for child in direct for pid in [int(child), *children(child)]]


def control_groups():
    """All groups of all hierarchies."""
    return {Path(folder) for folder, _, _ in os.walk(CGROUPS) if Path(folder) != CGROUPS}
