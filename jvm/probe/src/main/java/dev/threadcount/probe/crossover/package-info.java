/**
 * Switches, inside a running JVM and while requests flow, the kind of thread that requests run on.
 *
 * <h2>What is switched</h2>
 * The tasks that a server hands to its executor for requests. One port is switched at a time:
 * <ul>
 * <li>Tomcat 10.1 and 11, NIO connectors: the endpoint's executor. A task of Tomcat also takes the next request of its connection if
 *     that has already arrived, so a task may handle several requests and continue after a switch.</li>
 * <li>Jetty 12.0 and 12.1 with a {@code QueuedThreadPool}, HTTP/1: the tasks that the producer of a selector's
 *     {@code AdaptiveExecutionStrategy} produces and that may block. With {@code own} Jetty runs them as it does without us, often on the
 *     thread that selected them. With any other treatment the selector's thread hands them over, as it does when Jetty is configured with
 *     virtual threads. At the first switch of a session each selector still returns one task that is not counted and not moved.</li>
 * <li>The JDK's {@code HttpServer}: its executor.</li>
 * </ul>
 * An executor that the application has set also counts as the server's own.
 *
 * <h2>What is not switched</h2>
 * {@code @Async} methods, schedulers, message listeners, HTTP and database clients, the common {@code ForkJoinPool}, event loops, and
 * everything else with its own threads; acceptors, pollers and selectors; on Jetty requests over HTTP/2, pipelined requests, and the part
 * of an asynchronous request after its first dispatch. A request that an asynchronous servlet or a reactive handler continues elsewhere
 * counts as ended when its task ends.
 *
 * <h2>Treatments</h2>
 * {@code own}: the server's executor, with each task counted. {@code virtual}: a new virtual thread per task. {@code virtual-N}: the same
 * with at most N tasks at once; the others wait in a FIFO queue. {@code platform-N}: at most N platform threads, each started when a task
 * finds none free, with an unbounded FIFO queue. The threads stay until the server is restored, so that they are not started again in each
 * period.
 *
 * <h2>Commands and replies</h2>
 * The tool listens on a Unix socket and loads the agent with {@code level=crossover,out=unix:PATH}. The first line is {@code hello}, or
 * {@code refused} with a reason. A command is one line, and its reply is one line of JSON with {@code type} and {@code t_ns}. All times are
 * {@link java.lang.System#nanoTime()}, which on Linux is {@code CLOCK_MONOTONIC}.
 * <ul>
 * <li>{@code targets}: the servers that can be switched, and the ports that cannot, with the reason.</li>
 * <li>{@code switch TREATMENT [PORT]}: {@code switched}. Tasks handed over before {@code before_ns} belong to the previous period, those
 *     after {@code t_ns} to the new one. The port is needed where several servers can be switched.</li>
 * <li>{@code status}: the same counts. It also shows that the tool is alive.</li>
 * <li>{@code restore}: {@code restored}. The session continues and may switch again.</li>
 * </ul>
 * {@code current} and {@code previous} are periods with the number of tasks handed over, begun, ended, running and queued, and of tasks
 * that began on each kind of thread. {@code kind_as_asked} is false if a task began on another kind of thread or {@code fell_back} to the
 * server's own executor. {@code thread_names} are the names of a sample of threads, without their numbers. A period that is over has
 * {@code washed_out}, and in {@code last_end_ns} the time at which the last of its tasks so far ended. {@code treatments} contains the sums of the
 * session, and {@code earlier_tasks} the number of tasks of all earlier periods that still run or wait for a thread. {@code error} with
 * {@code why} means that nothing was changed. {@code ended} with {@code why} is the last line.
 *
 * <h2>How it ends</h2>
 * The server has its own executor again after {@code restore}; when the connection closes; when no command comes for 800 ms after the last
 * reply (30 s while nothing is switched); after an exception of ours; when a treatment's threads do not take a task, which then runs on the
 * server's own executor; and when the server stops. New tasks then go to the server's own executor at once. Tasks that run end where they
 * run, and a pool of ours ends after its last task. The scheduler of virtual threads belongs to the JVM and stays.
 */
package dev.threadcount.probe.crossover;
