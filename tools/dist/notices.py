"""The licences of what others wrote, as text, and the bill of materials for programs (CycloneDX)."""

import datetime
import json
import uuid

HEAD = """Threadcount {version} is licensed under the Apache License 2.0 (LICENSE). What is in this package contains the works of others below, each under its
own licence; the text of the Apache License is in LICENSE, the other texts are below as far as the packages hold them. The sources of the Java libraries are on Maven Central under the same coordinates, with the classifier `sources`;
those of the crates are on crates.io.

"""


def text(release, components):
    """Each component, then each licence text once, with those it is of."""
    lines = [HEAD.format(version=release.version)]
    lines += [f"{it.purl}  {it.licence}\n" for it in components]
    by_text = {}
    for component in components:
        for licence in component.texts:
            by_text.setdefault(licence, []).append(component.purl)
    for licence, owners in sorted(by_text.items(), key=lambda it: it[1]):
        lines.append(f"\n{'-' * 100}\n{', '.join(owners)}\n\n{licence}\n")
    return "".join(lines).encode()


def sbom(release, components):
    """CycloneDX 1.6."""
    root = f"pkg:cargo/threadcount@{release.version}"

    def component(it):
        found = {
            "type": "library",
            "bom-ref": it.purl,
            "name": it.name,
            "version": it.version,
            "purl": it.purl,
            "licenses": [{"expression": it.licence}],
        }
        if it.sha256:
            found["hashes"] = [{"alg": "SHA-256", "content": it.sha256}]
        return found

    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": datetime.datetime.fromtimestamp(release.epoch_s, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": "threadcount",
                "version": release.version,
                "purl": root,
                "licenses": [{"expression": "Apache-2.0"}],
            },
        },
        "components": [component(it) for it in components],
        "dependencies": [{"ref": root, "dependsOn": [it.purl for it in components]}]
        + [{"ref": it.purl, "dependsOn": list(it.needs)} for it in components],
    }
    # The same content has the same number.
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document, sort_keys=True))
    return json.dumps({**document, "serialNumber": f"urn:uuid:{number}"}, indent=1).encode()
