"""The Java libraries of our modules, from the bills of materials that CycloneDX's plugin for Maven writes: it reads licences from POMs. A library
whose licence is not known stops the release."""

import json
import pathlib
import re
import zipfile

BILL = "org.cyclonedx:cyclonedx-maven-plugin:2.9.1:makeBom"
# Of what is delivered.
BILL_OPTIONS = ("-DoutputFormat=json", "-DincludeTestScope=false", "-DincludeProvidedScope=false")
REPOSITORY = pathlib.Path.home() / ".m2" / "repository"
OUR_GROUP = "dev.threadcount"
# Libraries that others hold in their own jars, which no POM names.
WITHIN_OTHERS = {"org.jctools": "Apache-2.0", "org.jboss.narayana": "Apache-2.0"}
TEXT = re.compile(r"^(META-INF/(.*/)?)?(licen[cs]e|notice|copying)[^/]*$", re.IGNORECASE)
WITHIN = re.compile(r"META-INF/maven/.*/pom\.properties$")


def of_modules(jvm, modules, repository=REPOSITORY):
    """(purl, artifact, version, licence, SHA-256 or None, licence texts, purls that it needs) of each library of these modules."""
    bills = [json.loads((jvm / module / "target" / "bom.json").read_text(encoding="utf-8")) for module in modules]
    components = {it["purl"]: it for bill in bills for it in bill.get("components", ()) if it["group"] != OUR_GROUP}
    needs = {it["ref"]: it.get("dependsOn", ()) for bill in bills for it in bill.get("dependencies", ())}
    known = {(it["group"], it["name"]) for it in components.values()}
    for purl, it in components.items():
        sha256 = next(hash_["content"] for hash_ in it["hashes"] if hash_["alg"] == "SHA-256")
        needed = tuple(sorted(other for other in needs.get(purl, ()) if other in components))
        with zipfile.ZipFile(file_of(it, repository)) as jar:
            names = sorted(jar.namelist())
            texts = tuple(jar.read(name).decode("utf-8", "replace").strip() for name in names if TEXT.match(name))
            within = [coordinates(jar.read(name).decode()) for name in names if WITHIN.match(name)]
        yield purl, it["name"], it["version"], licence(it), sha256, texts, needed
        for group, artifact, version in within:
            if (group, artifact) not in known:
                yield f"pkg:maven/{group}/{artifact}@{version}", artifact, version, licence_within(group), None, (), ()


def file_of(component, repository):
    classifier = re.search(r"classifier=([^&]+)", component["purl"])
    name, version = component["name"], component["version"]
    file = f"{name}-{version}{f'-{classifier.group(1)}' if classifier else ''}.jar"
    return repository / component["group"].replace(".", "/") / name / version / file


def licence(component):
    """As an SPDX expression; a POM with several offers a choice."""
    names = [it.get("expression") or spdx(it["license"]) for it in component.get("licenses", [])]
    if not names:
        raise SystemExit(f"dist: {component['purl']} names no licence")
    return " OR ".join(names)


def spdx(named):
    name = named.get("id") or named["name"]
    if re.search("classpath.exception", name, re.IGNORECASE):
        return "GPL-2.0-only WITH Classpath-exception-2.0"
    return named.get("id") or f"LicenseRef-{re.sub('[^A-Za-z0-9.]+', '-', name)}"


def coordinates(properties):
    values = dict(line.strip().split("=", 1) for line in properties.splitlines() if "=" in line)
    return values["groupId"], values["artifactId"], values["version"]


def licence_within(group):
    found = next((licence for begin, licence in WITHIN_OTHERS.items() if f"{group}.".startswith(f"{begin}.")), None)
    if found is None:
        raise SystemExit(f"dist: the licence of {group} is not in tools/dist/java_libraries.py")
    return found
