"""An OCI image of the static program, without an engine: a layer, its configuration, a manifest."""

import datetime
import json

from archives import gz, sha256, tar

CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
# Of no user that a machine has, so that a container without a name space of its own is nobody there.
USER = "65532:65532"


def image(release, program, content):
    """threadcount-VERSION-image.tar, for `ctr images import` and `podman load`."""
    created = datetime.datetime.fromtimestamp(release.epoch_s, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    layer = tar(
        [
            ("etc/", None, 0o755),
            # An engine puts its own in place of it; without one there would be no localhost.
            ("etc/hosts", b"127.0.0.1 localhost\n::1 localhost\n", 0o644),
            ("etc/nsswitch.conf", b"hosts: files dns\n", 0o644),
            ("tmp/", None, 0o1777),
            ("usr/", None, 0o755),
            ("usr/bin/", None, 0o755),
            ("usr/bin/threadcount", program, 0o755),
            ("usr/share/", None, 0o755),
            ("usr/share/doc/", None, 0o755),
            ("usr/share/doc/threadcount/", None, 0o755),
            *content.documents("usr/share/doc/threadcount"),
        ],
        release.epoch_s,
    )
    packed = gz(layer)
    labels = {
        "org.opencontainers.image.title": "threadcount",
        "org.opencontainers.image.version": release.version,
        "org.opencontainers.image.revision": release.commit,
        "org.opencontainers.image.licenses": "Apache-2.0",
    }
    config = {
        "architecture": "amd64",
        "os": "linux",
        "created": created,
        "config": {"User": USER, "Entrypoint": ["/usr/bin/threadcount"], "Env": ["PATH=/usr/bin", "XDG_CACHE_HOME=/tmp"], "Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{sha256(layer)}"]},
        "history": [{"created": created, "created_by": "./dev dist"}],
    }
    blobs = []

    def blob(content_, media_type):
        blobs.append((f"blobs/sha256/{sha256(content_)}", content_, 0o644))
        return {"mediaType": media_type, "digest": f"sha256:{sha256(content_)}", "size": len(content_)}

    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": blob(json.dumps(config).encode(), CONFIG),
        "layers": [blob(packed, LAYER)],
        "annotations": labels,
    }
    described = blob(json.dumps(manifest).encode(), MANIFEST)
    described["platform"] = {"architecture": "amd64", "os": "linux"}
    described["annotations"] = {
        "io.containerd.image.name": f"localhost/threadcount:{release.version}",
        "org.opencontainers.image.ref.name": release.version,
    }
    index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [described]}
    files = [
        ("blobs/", None, 0o755),
        ("blobs/sha256/", None, 0o755),
        *blobs,
        ("index.json", json.dumps(index).encode(), 0o644),
        ("oci-layout", b'{"imageLayoutVersion": "1.0.0"}', 0o644),
    ]
    path = release.out / f"threadcount-{release.version}-image.tar"
    path.write_bytes(tar(files, release.epoch_s))
    return path
