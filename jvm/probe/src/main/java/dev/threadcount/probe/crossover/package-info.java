/**
 * Switches, inside a running JVM and while requests flow, the kind of thread that requests run on.
 *
 * <h2>What is switched</h2>
 * The tasks that a server hands to its executor for requests, of one port at a time:
 * <ul>
 * <li>Tomcat 10.1 and 11, NIO connectors: the endpoint's executor. A task of Tomcat also takes the next request of its connection if
 *     that has arrived when it looks, so a task may have several requests, and runs on after a switch.</li>
 * <li>Jetty 12.0 and 12.1 with a {@code QueuedThreadPool}, HTTP/1: the tasks that the producer of a selector's
 *     {@code AdaptiveExecutionStrategy} produces and that may block. With {@code own} Jetty runs them as it does without us, often on the
 *     thread that selected them. With any other treatment the selector's thread hands them over, as it does when Jetty is configured with
 *     virtual threads. At the first switch of a session each selector still returns one task that is not counted and not moved.</li>
 * <li>The JDK's {@code HttpServer}: its executor.</li>
 * </ul>
 * An executor that the application has set is the server's own too.
 *
 * <h2>What is not switched</h2>
 * {@code @Async} methods, schedulers, message listeners, HTTP and database clients, the common {@code ForkJoinPool}, event loops, and
 * whatever else has threads of its own; acceptors, pollers and selectors; on Jetty requests over HTTP/2, pipelined requests, and what an
 * asynchronous request does after its first dispatch. A request that an asynchronous servlet or a reactive handler goes on with elsewhere
 * is counted as ended when its task is.
 *
 * <h2>Treatments</h2>
 * {@code own}: the server's executor, with each task counted. {@code virtual}: a new virtual thread per task. {@code virtual-N}: the same,
 * at most N tasks at once, the others wait in a FIFO queue. {@code platform-N}: at most N platform threads, each started when a task
 * finds none free, with an unbounded FIFO queue. The threads stay until the server is restored, so that they are not started again in each period.
 *
 * <h2>Commands and replies</h2>
 * The tool listens on a Unix socket and loads the agent with {@code level=crossover,out=unix:PATH}. The first line is {@code hello}, or
 * {@code refused} with a reason. A command is a line, and has one line of JSON as its reply, with its {@code type} and {@code t_ns}.
 * All times are {@link java.lang.System#nanoTime()}, which on Linux is {@code CLOCK_MONOTONIC}.
 * <ul>
 * <li>{@code targets}: the servers that can be switched, and the ports that cannot, with the reason.</li>
 * <li>{@code switch TREATMENT [PORT]}: {@code switched}. Tasks handed over before {@code before_ns} belong to the previous period, those
 *     after {@code t_ns} to the new one. The port is needed where several servers can be switched.</li>
 * <li>{@code status}: the same counts. It is the sign of life as well.</li>
 * <li>{@code restore}: {@code restored}. The session goes on, and may switch again.</li>
 * </ul>
 * {@code current} and {@code previous} are periods: tasks handed over, begun, ended, running and queued, and how many began on either kind
 * of thread. {@code kind_as_asked} is false where a task began on another kind or {@code fell_back} to the server's own executor.
 * {@code thread_names} has the names of a sample without their numbers. A period that is over has {@code washed_out}, and in
 * {@code last_end_ns} when the last of its tasks ended so far. {@code treatments} has the sums of the session, and
 * {@code earlier_tasks} how many tasks of all periods before run or wait for a thread.
 * {@code error} with {@code why}: nothing was changed. {@code ended} with {@code why} is the last line.
 *
 * <h2>How it ends</h2>
 * The server has its own executor again after {@code restore}; when the connection closes; when no command comes for 800 ms after the last reply (30 s while
 * nothing is switched); after an exception of ours; when a treatment's threads do not take a task, which then runs on the server's own
 * executor; and when the server stops. New tasks go to the server's own executor at once. Tasks that run end where they run, and a pool
 * of ours ends after its last task. The scheduler of virtual threads belongs to the JVM and stays.
 */
package dev.threadcount.probe.crossover;
