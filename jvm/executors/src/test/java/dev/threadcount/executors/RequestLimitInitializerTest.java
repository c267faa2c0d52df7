package dev.threadcount.executors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.catalina.Valve;
import org.junit.jupiter.api.Test;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.MapPropertySource;

class RequestLimitInitializerTest {
    /** Has the method by which Tomcat's factory is recognized. */
    public static final class TomcatFactory {
        final List<Valve> valves = new ArrayList<>();

        /** The same method as in Spring Boot. */
        public void addEngineValves(Valve... added) {
            valves.addAll(List.of(added));
        }
    }

    /** Has a name like Spring Boot's contexts with a server. */
    static final class SomeWebServerApplicationContext extends GenericApplicationContext {}

    private static GenericApplicationContext context(Map<String, Object> properties) {
        var context = new SomeWebServerApplicationContext();
        context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", properties));
        new RequestLimitInitializer().initialize(context);
        return context;
    }

    @Test
    void tomcatGetsOneLimitWhereThePropertyIsSet() {
        try (var context = context(Map.of("threadcount.request-limit.max-concurrent", "7"))) {
            context.registerBean("tomcat", TomcatFactory.class);
            context.registerBean("other", ArrayList.class);
            context.refresh();
            var valves = context.getBean(TomcatFactory.class).valves;
            assertEquals(1, valves.size());
            assertTrue(valves.get(0) instanceof RequestLimitValve);
        }
    }

    @Test
    void withoutThePropertyNothingIsChanged() {
        try (var context = context(Map.of())) {
            context.registerBean("tomcat", TomcatFactory.class);
            context.refresh();
            assertEquals(List.of(), context.getBean(TomcatFactory.class).valves);
        }
    }

    @Test
    void limitThatHasNoEffectEndsTheApplication() {
        try (var context = context(Map.of("threadcount.request-limit.max-concurrent", 7))) {
            var refused = assertThrows(IllegalStateException.class, context::refresh);
            assertTrue(refused.getMessage().endsWith("has no Tomcat inside"), refused.getMessage());
        }
    }

    /** Returns the error of an application that has the property but no Tomcat. */
    public static final class Refusal implements Supplier<String> {
        @Override
        public String get() {
            try (var context = context(Map.of("threadcount.request-limit.max-concurrent", 7))) {
                context.registerBean("other", ArrayList.class);
                return assertThrows(IllegalStateException.class, context::refresh).getMessage();
            }
        }
    }

    @Test
    void applicationWithoutTomcatOnItsClassPathEndsWithTheSameWords() throws Exception {
        Class<?> refusal = new LoaderWithoutTomcat().loadClass(Refusal.class.getName());
        assertThrows(ClassNotFoundException.class, () -> refusal.getClassLoader().loadClass(Valve.class.getName()));
        String message = ((Supplier<?>) refusal.getConstructor().newInstance()).get().toString();
        assertTrue(message.endsWith("has no Tomcat inside"), message);
    }

    @Test
    void springBootFindsItByItsName() throws Exception {
        try (var factories = RequestLimitInitializer.class.getResourceAsStream("/META-INF/spring.factories")) {
            String text = new String(factories.readAllBytes());
            assertTrue(text.strip().endsWith("=" + RequestLimitInitializer.class.getName()), text);
        }
    }
}
