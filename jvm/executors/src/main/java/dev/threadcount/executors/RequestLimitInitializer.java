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
 * Adds a {@link RequestLimitValve} to the Tomcat of a Spring Boot application that has this jar on its class path, if the property {@code
 * threadcount.request-limit.max-concurrent} is set. {@code max-queue} and {@code queue-timeout-ms} beside it have the valve's defaults.
 *
 * <p>Spring Boot finds this class by {@code META-INF/spring.factories}. It recognizes Tomcat's factory by its method {@code
 * addEngineValves}, because Spring Boot 3 and 4 have that class in different packages. An application without Tomcat does not start,
 * because a limit without effect would be noticed too late.
 */
public final class RequestLimitInitializer implements ApplicationContextInitializer<ConfigurableApplicationContext> {
    private static final String PREFIX = "threadcount.request-limit.";
    private static final String MAX_CONCURRENT = PREFIX + "max-concurrent";

    /** Made by Spring Boot. */
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

    /** Adds the valve to each Tomcat of the application. */
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

        /** Finds the method by its name alone, because the type of its parameter exists only with Tomcat on the class path. */
        private static Optional<Method> addEngineValves(Class<?> type) {
            try {
                return Arrays.stream(type.getMethods()).filter(method -> method.getName().equals("addEngineValves")).findFirst();
            } catch (NoClassDefFoundError optional) {
                // Some method of the bean has a type of a library that is left out. Tomcat's factory has no such method.
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

        /** Refuses an application without Tomcat. Other contexts of the same application, such as those of Spring Cloud, have no server. */
        void check(ContextRefreshedEvent refreshed) {
            boolean hasServer = refreshed.getApplicationContext().getClass().getName().contains("WebServerApplicationContext");
            if (hasServer && !isInForce) {
                throw new IllegalStateException(MAX_CONCURRENT + " is set, and this application has no Tomcat inside");
            }
        }
    }
}
