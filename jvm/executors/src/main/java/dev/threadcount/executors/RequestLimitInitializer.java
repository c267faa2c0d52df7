package dev.threadcount.executors;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Optional;
import org.apache.catalina.Valve;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.env.Environment;

/**
 * Adds a {@link RequestLimitValve} to the Tomcat in a Spring Boot application that has this jar on its class path, where the property
 * {@code threadcount.request-limit.max-concurrent} is set; {@code max-queue} and {@code queue-timeout-ms} beside it have the defaults
 * of the valve.
 *
 * <p>Spring Boot finds it by {@code META-INF/spring.factories}. It knows Tomcat's factory by its method {@code addEngineValves}, because
 * the class is in another package in Spring Boot 3 and 4. An application that has no Tomcat does not start: a limit that is asked for
 * and has no effect would be noticed too late.
 */
public final class RequestLimitInitializer implements ApplicationContextInitializer<ConfigurableApplicationContext> {
    private static final String PREFIX = "threadcount.request-limit.";
    private static final String MAX_CONCURRENT = PREFIX + "max-concurrent";

    /** As Spring Boot makes it. */
    public RequestLimitInitializer() {}

    @Override
    public void initialize(ConfigurableApplicationContext context) {
        if (!context.getEnvironment().containsProperty(MAX_CONCURRENT)) {
            return;
        }
        var limiting = new Limiting(context.getEnvironment());
        context.getBeanFactory().addBeanPostProcessor(limiting);
        context.addApplicationListener((ApplicationListener<ContextRefreshedEvent>) refreshed -> limiting.check(refreshed));
    }

    /** Puts the valve into each Tomcat of the application. */
    private static final class Limiting implements BeanPostProcessor {
        private final Environment environment;
        private boolean isInForce;

        Limiting(Environment environment) {
            this.environment = environment;
        }

        @Override
        public Object postProcessBeforeInitialization(Object bean, String name) {
            Optional<Method> addEngineValves = addEngineValves(bean.getClass());
            if (addEngineValves.isPresent()) {
                try {
                    addEngineValves.get().invoke(bean, (Object) new Valve[] {valve()});
                } catch (IllegalAccessException | InvocationTargetException cause) {
                    throw new BeanCreationException(name, "the request limit cannot be added", cause);
                }
                isInForce = true;
            }
            return bean;
        }

        /** By its name alone: the type of its parameter exists only where a Tomcat is on the class path. */
        private static Optional<Method> addEngineValves(Class<?> type) {
            try {
                return Arrays.stream(type.getMethods()).filter(method -> method.getName().equals("addEngineValves")).findFirst();
            } catch (NoClassDefFoundError optional) {
                // Some method of the bean has a type of a library that is left out; Tomcat's factory has none.
                return Optional.empty();
            }
        }

        private RequestLimitValve valve() {
            var valve = new RequestLimitValve();
            valve.setMaxConcurrent(environment.getRequiredProperty(MAX_CONCURRENT, Integer.class));
            Integer maxQueue = environment.getProperty(PREFIX + "max-queue", Integer.class);
            if (maxQueue != null) {
                valve.setMaxQueue(maxQueue);
            }
            Long queueTimeoutMs = environment.getProperty(PREFIX + "queue-timeout-ms", Long.class);
            if (queueTimeoutMs != null) {
                valve.setQueueTimeoutMs(queueTimeoutMs);
            }
            return valve;
        }

        /** Other contexts of the same application, as Spring Cloud makes, have no server of their own. */
        void check(ContextRefreshedEvent refreshed) {
            boolean hasServer = refreshed.getApplicationContext().getClass().getName().contains("WebServerApplicationContext");
            if (hasServer && !isInForce) {
                throw new IllegalStateException(MAX_CONCURRENT + " is set, and this application has no Tomcat inside");
            }
        }
    }
}
