"""The Java libraries in a jar and in the jars within it. Few of them say their licence in a form that a program could read, so the
licences stand here; a library that is not here stops the release."""

import io
import re
import zipfile

from archives import sha256

OUR_GROUP = "dev.threadcount"
APACHE, ECLIPSE_OR_APACHE = "Apache-2.0", "EPL-2.0 OR Apache-2.0"
ECLIPSE_OR_GPL = "EPL-2.0 OR GPL-2.0-only WITH Classpath-exception-2.0"
HELIDON = ("", ".builder", ".common", ".common.concurrency", ".common.features", ".config", ".http", ".http.encoding", ".http.media")
HELIDON += (".logging", ".metadata", ".metrics", ".service", ".webclient", ".webserver")
QUARKUS = ("", ".arc", ".resteasy.reactive", ".security", ".vertx.utils")
SMALLRYE = ("", ".certs", ".common", ".config", ".reactive")
JBOSS = ("invocation", "logging", "logmanager", "narayana", "narayana.arjunacore", "narayana.jta", "narayana.jts", "slf4j", "threads")
# Of a group, or of an artifact that differs from its group.
LICENCES = {
    **{f"io.helidon{it}": APACHE for it in HELIDON},
    **{f"io.quarkus{it}": APACHE for it in QUARKUS},
    **{f"io.smallrye{it}": APACHE for it in SMALLRYE},
    **{f"org.jboss.{it}": APACHE for it in JBOSS},
    "ch.qos.logback": "EPL-1.0 OR LGPL-2.1-only",
    "com.aayushatharva.brotli4j": APACHE,
    "com.fasterxml.jackson.core": APACHE,
    "com.fasterxml.jackson.datatype": APACHE,
    "com.fasterxml.jackson.module": APACHE,
    "com.ongres.scram": "BSD-2-Clause",
    "com.ongres.stringprep": "BSD-2-Clause",
    "com.zaxxer": APACHE,
    "commons-logging": APACHE,
    "io.agroal": APACHE,
    "io.micrometer": APACHE,
    "io.netty": APACHE,
    "io.projectreactor": APACHE,
    "io.projectreactor.addons": APACHE,
    "io.projectreactor.netty": APACHE,
    "io.r2dbc": APACHE,
    "io.vertx": ECLIPSE_OR_APACHE,
    "jakarta.activation": "BSD-3-Clause",
    "jakarta.annotation": ECLIPSE_OR_GPL,
    "jakarta.el": ECLIPSE_OR_GPL,
    "jakarta.enterprise": APACHE,
    "jakarta.inject": APACHE,
    "jakarta.interceptor": ECLIPSE_OR_GPL,
    "jakarta.json": ECLIPSE_OR_GPL,
    "jakarta.resource": ECLIPSE_OR_GPL,
    "jakarta.servlet": ECLIPSE_OR_GPL,
    "jakarta.transaction": ECLIPSE_OR_GPL,
    "jakarta.websocket": ECLIPSE_OR_GPL,
    "jakarta.ws.rs": ECLIPSE_OR_GPL,
    "jakarta.xml.bind": "BSD-3-Clause",
    "net.sf.jopt-simple": "MIT",
    "org.apache.commons": APACHE,
    "org.apache.logging.log4j": APACHE,
    "org.apache.pdfbox": APACHE,
    "org.apache.tomcat.embed": APACHE,
    "org.checkerframework": "MIT",
    "org.crac": "BSD-2-Clause",
    "org.eclipse.jetty": ECLIPSE_OR_APACHE,
    "org.eclipse.jetty.compression": ECLIPSE_OR_APACHE,
    "org.eclipse.jetty.ee": ECLIPSE_OR_APACHE,
    "org.eclipse.jetty.ee10": ECLIPSE_OR_APACHE,
    "org.eclipse.jetty.ee10.websocket": ECLIPSE_OR_APACHE,
    "org.eclipse.jetty.ee11": ECLIPSE_OR_APACHE,
    "org.eclipse.jetty.ee11.websocket": ECLIPSE_OR_APACHE,
    "org.eclipse.jetty.websocket": ECLIPSE_OR_APACHE,
    "org.eclipse.microprofile.config": APACHE,
    "org.eclipse.microprofile.context-propagation": APACHE,
    "org.eclipse.microprofile.reactive-streams-operators": APACHE,
    "org.eclipse.parsson": ECLIPSE_OR_GPL,
    "org.jboss:jboss-transaction-spi": "LicenseRef-Public-Domain",
    "org.jctools": APACHE,
    "org.jspecify": APACHE,
    "org.openjdk.jmh": "GPL-2.0-only WITH Classpath-exception-2.0",
    "org.ow2.asm": "BSD-3-Clause",
    "org.postgresql": "BSD-2-Clause",
    "org.postgresql:r2dbc-postgresql": APACHE,
    "org.reactivestreams": "MIT-0",
    "org.slf4j": "MIT",
    "org.springframework": APACHE,
    "org.springframework.boot": APACHE,
    "org.wildfly.common": APACHE,
    "org.yaml": APACHE,
    "tools.jackson.core": APACHE,
}
# Jars without Maven's pom.properties, by the beginning of their names; the first that fits.
GROUPS = {
    "asm": "org.ow2.asm",
    "checker-qual": "org.checkerframework",
    "jspecify": "org.jspecify",
    "micrometer-": "io.micrometer",
    "postgresql": "org.postgresql",
    "reactive-streams": "org.reactivestreams",
    "reactor-core": "io.projectreactor",
    "reactor-pool": "io.projectreactor.addons",
    "reactor-netty": "io.projectreactor.netty",
    "spring-boot": "org.springframework.boot",
    "spring-": "org.springframework",
    "tomcat-embed-": "org.apache.tomcat.embed",
    "vertx-": "io.vertx",
}
TEXT = re.compile(r"^(META-INF/(.*/)?)?(licen[cs]e|notice|copying)[^/]*$", re.IGNORECASE)


def of_jar(name, content):
    """(group, artifact, version, licence, SHA-256 of its own jar or None, licence texts) of each library."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        texts = tuple(archive.read(it).decode("utf-8", "replace").strip() for it in sorted(names) if TEXT.match(it))
        found = [coordinates(archive.read(it).decode()) for it in names if re.match(r"META-INF/maven/.*/pom\.properties$", it)]
        for inner in names:
            if inner.endswith(".jar"):
                yield from of_jar(inner.rsplit("/", 1)[-1], archive.read(inner))
    others = [it for it in found if it[0] != OUR_GROUP]
    if not found:
        others = [from_name(name)]
    for group, artifact, version in others:
        licence = LICENCES.get(f"{group}:{artifact}", LICENCES.get(group))
        if licence is None:
            raise SystemExit(f"dist: the licence of {group}:{artifact} is not in tools/dist/java_libraries.py")
        yield group, artifact, version, licence, sha256(content) if len(found) <= 1 else None, texts


def coordinates(properties):
    values = dict(line.strip().split("=", 1) for line in properties.splitlines() if "=" in line)
    return values["groupId"], values["artifactId"], values["version"]


def from_name(name):
    artifact, version = re.match(r"(.+?)-(\d.*)\.jar$", name).groups()
    group = next((group for begin, group in GROUPS.items() if artifact.startswith(begin)), None)
    if group is None:
        raise SystemExit(f"dist: the group of {name} is not in tools/dist/java_libraries.py")
    return group, artifact, version
