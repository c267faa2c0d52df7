package dev.threadcount.crossover;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The servers that are found in a JVM, and those that are refused. */
class TargetsIT {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @MethodSource("dev.threadcount.crossover.SwitchUnderLoadIT#servers")
    void serverIsFoundByItsPort(Java java, ServerKind kind) throws Exception {
        try (ServerProcess server = kind.start(java)) {
            int port = server.port();
            try (Tool tool = Tool.attach(server)) {
                assertEquals("crossover", tool.hello().get("level").asString());
                JsonNode targets = tool.ask("targets");
                assertEquals(1, targets.get("targets").size(), targets.toString());
                JsonNode target = targets.get("targets").get(0);
                assertEquals(port, target.get("port").asInt());
                assertTrue(target.get("server").asString().startsWith(kind.product()), targets.toString());
                assertEquals(0, targets.get("refused").size(), targets.toString());
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"SocketSubject,'',an unknown server", "SocketSubject,packed,Jetty in renamed packages", "NettySubject,'',Netty",
            "UndertowSubject,'',Undertow", "TomcatSubject,nio2,Tomcat with another connector than NIO"})
    void otherServerIsRefusedByName(String type, String option, String name) throws Exception {
        try (ServerProcess server = ServerProcess.subject(Java.newest(), null, type, option)) {
            int port = server.port();
            try (Tool tool = Tool.attach(server)) {
                JsonNode refused = tool.ask("targets").get("refused").get(0);
                assertEquals(port, refused.get("port").asInt());
                assertTrue(refused.get("server").asString().startsWith(name), refused.toString());
                String why = tool.ask("switch virtual " + port).get("why").asString();
                assertTrue(why.startsWith("Port " + port + " cannot be switched: " + name), why);
                assertTrue(tool.ask("switch virtual 1").get("why").asString().startsWith("Nothing in this JVM listens"));
            }
        }
    }

    @Test
    void customExecutorComesBackAsTheSameObject() throws Exception {
        for (String jars : List.of("tomcat-10.1", "tomcat-11")) {
            try (ServerProcess server = ServerProcess.subject(Java.newest(), jars, "TomcatSubject", "custom")) {
                int port = server.port();
                String own = server.ask("executor");
                try (Tool tool = Tool.attach(server)) {
                    tool.command("switch own");
                    assertEquals("platform custom-1", get(port, "/").thread());
                    tool.command("switch virtual");
                    assertTrue(get(port, "/").thread().startsWith("virtual threadcount-"));
                    tool.command("restore");
                    assertEquals(own, server.ask("executor"));
                    assertEquals("platform custom-1", get(port, "/").thread());
                }
                assertEquals(own, server.ask("executor"));
            }
        }
    }

    /** The default executor runs requests on its only thread, one after the other. */
    @Test
    void defaultExecutorOfTheJdkIsAnExecutorLikeAnother() throws Exception {
        for (Java java : Java.all()) {
            try (ServerProcess server = ServerProcess.subject(java, ".", "JdkSubject", "default")) {
                int port = server.port();
                try (Tool tool = Tool.attach(server)) {
                    tool.command("switch own");
                    assertEquals("platform HTTP-Dispatcher", get(port, "/").thread());
                    tool.command("switch virtual");
                    assertTrue(get(port, "/").thread().startsWith("virtual threadcount-"));
                    tool.command("restore");
                    assertEquals("platform HTTP-Dispatcher", get(port, "/").thread());
                }
            }
        }
    }

    @Test
    void secondToolIsRefusedWhileTheFirstIsThere() throws Exception {
        try (ServerProcess server = ServerKind.ALL[4].start(Java.newest())) {
            server.port();
            try (Tool first = Tool.attach(server)) {
                first.ask("switch virtual");
                try (Tool second = Tool.attach(server)) {
                    assertEquals("refused", second.hello().get("type").asString());
                    assertTrue(second.hello().get("why").asString().startsWith("Another crossover has been running in this JVM since"));
                }
                assertEquals("virtual", first.ask("status").get("current").get("treatment").asString());
            }
            Awaiting.until("a new session is possible", () -> {
                try (Tool third = Tool.attach(server)) {
                    return third.hello().get("type").asString().equals("hello");
                }
            });
        }
    }

    @Test
    void wrongCommandIsAnErrorAndChangesNothing() throws Exception {
        try (ServerProcess server = ServerKind.ALL[4].start(Java.newest())) {
            server.port();
            try (Tool tool = Tool.attach(server)) {
                tool.command("switch virtual");
                for (String wrong : List.of("", "switch", "switch fibers", "switch platform-0", "switch platform-999999", "stop", "switch own 99999 1")) {
                    assertEquals("error", tool.ask(wrong).get("type").asString(), wrong);
                }
                assertEquals("virtual", tool.ask("status").get("current").get("treatment").asString());
            }
        }
    }

    /** The launcher's class loader has Tomcat. The application's class loader is another one. */
    @ParameterizedTest
    @ValueSource(strings = {"spring-boot-3", "spring-boot-4"})
    void springBootAsItIsPackaged(String application) throws Exception {
        for (Java java : Java.all()) {
            Path jar = Path.of("..", application, "target", application + ".jar");
            try (ServerProcess server = ServerProcess.of(java, "started on port", "-jar", jar.toString(), "--server.port=0")) {
                switchThreadInfo(server, "/thread-info?format=json");
            }
        }
    }

    /** Tomcat as Apache delivers it, with its classes in a separate class loader. */
    @ParameterizedTest
    @ValueSource(strings = {"10.1.59", "11.0.24"})
    void standaloneTomcat(String version) throws Exception {
        for (Java java : Java.all()) {
            Path home = ServerProcess.TARGET.resolve("servers/distributions/apache-tomcat-" + version);
            Path base = Files.createDirectory(folder.resolve(version + "-" + java.feature()));
            Files.createDirectories(base.resolve("webapps"));
            Files.createDirectories(base.resolve("conf"));
            Files.copy(Path.of("../servlets/target/servlets.war"), base.resolve("webapps/ROOT.war"));
            Files.copy(home.resolve("conf/web.xml"), base.resolve("conf/web.xml"));
            Files.writeString(base.resolve("conf/server.xml"), """
                    <Server port="-1"><Service name="Catalina"><Connector port="0" address="127.0.0.1"/>
                    <Engine name="Catalina" defaultHost="localhost"><Host name="localhost" appBase="webapps"/></Engine></Service></Server>
                    """);
            try (ServerProcess server = ServerProcess.of(java, "Server startup in", "-cp", home.resolve("bin") + "/*", "-Dcatalina.home=" + home,
                    "-Dcatalina.base=" + base, "-Djava.io.tmpdir=" + base, "org.apache.catalina.startup.Bootstrap", "start")) {
                switchThreadInfo(server, "/thread-info?format=json");
            }
        }
    }

    private static void switchThreadInfo(ServerProcess server, String path) throws Exception {
        try (Tool tool = Tool.attach(server)) {
            int port = tool.ask("targets").get("targets").get(0).get("port").asInt();
            assertContains("\"virtual\":false", compact(get(port, path)));
            tool.command("switch virtual");
            assertContains("\"virtual\":true", compact(get(port, path)));
            tool.command("switch platform-2");
            assertContains("threadcount-platform-", compact(get(port, path)));
            tool.command("restore");
            assertContains("-exec-", compact(get(port, path)));
        }
    }

    private static void assertContains(String part, String body) {
        assertTrue(body.contains(part), body);
    }

    /** Uses a new connection. On a kept one the thread of the last request might take this one too. */
    private static Response get(int port, String path) throws IOException {
        try (Connection connection = new Connection(port)) {
            return connection.get(path);
        }
    }

    private static String compact(Response response) {
        return response.thread().replace(" ", "");
    }
}
