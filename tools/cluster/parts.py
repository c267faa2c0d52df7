"""What a cluster is made of: Kubernetes from Go modules, etcd, containerd and runc from Debian, certificates, images."""

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

VERSION, STAGING = "v1.36.3", "v0.36.3"
PROGRAMS = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet"]
PACKAGES = {"etcd": "etcd-server", "containerd": "containerd", "runc": "runc", "openssl": "openssl", "ip": "iproute2"}
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "threadcount" / f"kubernetes-{VERSION}"
HERE = Path(__file__).parent
# Where Debian has the programs that connect pods to a network.
CNI = Path("/usr/lib/cni")


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, **options)


def missing():
    """What has to be installed first."""
    return [package for command, package in PACKAGES.items() if not shutil.which(command)] + (
        [] if shutil.which("go") else ["golang"]) + ([] if (CNI / "bridge").exists() else ["containernetworking-plugins"])


def kubernetes():
    """The folder of the four programs; the first time they are built, which takes some nine minutes of one core."""
    programs = CACHE / "bin"
    if all((programs / name).exists() for name in PROGRAMS):
        return programs
    print(f"building Kubernetes {VERSION} from its Go module, once", flush=True)
    environment = os.environ | {"GOWORK": "off", "GOFLAGS": "-mod=mod", "CGO_ENABLED": "0"}
    found = run("go", "mod", "download", "-json", f"k8s.io/kubernetes@{VERSION}", cwd="/", env=environment, capture_output=True)
    source = CACHE / "source"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(json.loads(found.stdout)["Dir"], source)
    run("chmod", "-R", "u+w", source)
    shutil.rmtree(source / "vendor", ignore_errors=True)
    manifest = source / "go.mod"
    staging = re.sub(r"=> \./staging/src/k8s\.io/([a-z-]+)", rf"=> k8s.io/\1 {STAGING}", manifest.read_text())
    manifest.write_text(staging)
    major, minor = VERSION[1:].split(".")[:2]
    base = "k8s.io/component-base/version"
    names = f"-X {base}.gitVersion={VERSION} -X {base}.gitMajor={major} -X {base}.gitMinor={minor}"
    programs.mkdir(parents=True, exist_ok=True)
    run("nice", "-n", "10", "go", "build", "-ldflags", names, "-o", f"{programs}/", *[f"./cmd/{name}" for name in PROGRAMS],
        cwd=source, env=environment)
    shutil.rmtree(source)
    return programs


def certificates(folder, control):
    """One authority, and what it has signed; a kubeconfig of each user."""
    folder.mkdir(parents=True)
    quiet = {"cwd": folder, "capture_output": True}
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.crt", **quiet)
    signed = {
        "api": ("/CN=kube-apiserver", f"IP:{control},IP:127.0.0.1,IP:10.99.0.1,DNS:kubernetes"),
        "n1": ("/O=system:nodes/CN=system:node:n1", "DNS:n1,IP:10.77.0.2"),
        "n2": ("/O=system:nodes/CN=system:node:n2", "DNS:n2,IP:10.77.0.3"),
        "admin": ("/O=system:masters/CN=admin", "DNS:admin"),
        "dev": ("/CN=dev", "DNS:dev"),
    }
    for name, (subject, names) in signed.items():
        run("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", subject, "-keyout", f"{name}.key", "-out", f"{name}.csr", **quiet)
        (folder / "names").write_text(f"subjectAltName={names}\n")
        run("openssl", "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "names", "-out", f"{name}.crt", **quiet)
        (folder / f"{name}.kc").write_text(json.dumps(kubeconfig(folder, name, control)))
    run("openssl", "genrsa", "-out", "sa.key", "2048", **quiet)
    run("openssl", "rsa", "-in", "sa.key", "-pubout", "-out", "sa.pub", **quiet)


def kubeconfig(folder, name, control):
    cluster = {"server": f"https://{control}:6443", "certificate-authority": str(folder / "ca.crt")}
    user = {"client-certificate": str(folder / f"{name}.crt"), "client-key": str(folder / f"{name}.key")}
    return {"apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "c", "cluster": cluster}], "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "test", "context": {"cluster": "c", "user": "u", "namespace": "default"}}]}


def libraries(program):
    """The files that a program loads, as ldd tells them; none of a static one."""
    told = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    return re.findall(r"(/\S+) \(0x", told)


def image(name, program, path, entrypoint, out):
    """An image with one program, and the libraries it needs."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as files:
        for source, target in [(program, path)] + [(library, library) for library in libraries(program)]:
            data = Path(source).resolve().read_bytes()
            entry = tarfile.TarInfo(target.lstrip("/"))
            entry.size, entry.mode = len(data), 0o755
            files.addfile(entry, io.BytesIO(data))
    layer = layer.getvalue()
    digest = hashlib.sha256(layer).hexdigest()
    config = json.dumps({"architecture": "amd64", "os": "linux", "config": {"Entrypoint": entrypoint},
                         "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]}}).encode()
    config_name = f"{hashlib.sha256(config).hexdigest()}.json"
    manifest = json.dumps([{"Config": config_name, "RepoTags": [name], "Layers": ["l/layer.tar"]}]).encode()
    with tarfile.open(out, "w") as files:
        for file, data in [(config_name, config), ("l/layer.tar", layer), ("manifest.json", manifest)]:
            entry = tarfile.TarInfo(file)
            entry.size = len(data)
            files.addfile(entry, io.BytesIO(data))


def truth(folder):
    """The server of bench/ whose response times are known."""
    run("cc", "-O2", "-o", folder / "truth", HERE.parent.parent / "bench" / "truth.c")
    return folder / "truth"


def pause(folder):
    """The program that holds a pod's namespaces."""
    run("cc", "-static", "-Os", "-o", folder / "pause", HERE / "pause.c")
    return folder / "pause"
