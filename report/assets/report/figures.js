// Which figures there are. A figure has one choice or more; `lines` names the field of a variant's data, `limit` the
// field with the most that it can be. `wide` figures take the whole width, `events` draws what happened under them.

const MEMORY = "10⁶ bytes, the highest reading of each second.";
// What the probe reads has a window of its own.
const EXPLAINED = data.explained_after ? " Read in the explaining window, after the measured one." : "";

const FIGURES = [
  { id: "knee", group: "Requests", title: "Response time against the rate", wide: true, sweep: data.knee, asked: true, log: true, limit_ms: data.knee_limit_ms,
    says: "Each point is a rate that the search for the capacity has tried, the median of its steps. Solid is the 99th percentile, dotted the median, dashed the limit. The server is full where the line bends up.",
    choices: [{ unit: "ms" }] },
  { id: "curve", group: "Requests", title: "Response time by percentile", wide: true, percentile: true,
    says: "The response time that 1 in 10, in 100, in 1,000 … requests reached or exceeded. The line ends at the slowest request.",
    choices: [{ lines: "curve_ms", unit: "ms" }] },
  { id: "rate", title: "Throughput over time", wide: true, events: true,
    says: "Expected responses completed in each second.",
    choices: [{ lines: "rate_per_s", unit: "/s" }] },
  { id: "p99", title: "Response time over time", wide: true, events: true,
    says: "Response time of the responses of each second.",
    choices: [{ lines: "p99_ms", label: "99th percentile", unit: "ms" }, { lines: "max_ms", label: "slowest", unit: "ms" },
      { lines: "p50_ms", label: "median", unit: "ms" }] },
  { id: "against", title: "Figures against " + (data.against.what === "clients" ? "the number of clients" : "the rate"), wide: true, sweep: data.against.points, against: data.against.what,
    says: "One point for each load, means over the runs.",
    choices: [{ key: "rate_per_s", label: "throughput", unit: "/s" }, { key: "p99_ms", label: "99th percentile", unit: "ms" }, { key: "p50_ms", label: "median", unit: "ms" },
      { key: "cpu_us", label: "CPU per request", unit: "µs" }, { key: "rss_mb", label: "resident memory", unit: "MB" }, { key: "os_threads", label: "OS threads", unit: "threads" }] },
  { id: "sweep", title: "Response time against throughput", sweep: data.sweep,
    says: "One point for each load, means over the runs; solid the 99th percentile, dotted the median.",
    choices: [{ unit: "ms" }] },
  { id: "failures", title: "Failures over time", optional: true,
    says: "Requests that failed in each second.",
    choices: [{ lines: "failed_per_s", unit: "/s" }] },
  { id: "warmup", title: "Throughput in the warm-up", own: true,
    says: "The same load before the measured window: does it become steady?",
    choices: [{ lines: "warmup_rate_per_s", unit: "/s" }] },

  { id: "memory", group: "Memory", title: "Resident memory over time",
    says: "Resident set of the server’s process tree, " + MEMORY,
    choices: [{ lines: "rss_mb", unit: "MB" }] },
  { id: "heap", title: "Java heap over time",
    says: "As the JVM reports it, " + MEMORY + EXPLAINED,
    choices: [{ lines: "heap_used_mb", label: "used", unit: "MB" }, { lines: "heap_committed_mb", label: "committed", unit: "MB" }] },
  { id: "stacks", title: "Thread stacks over time",
    says: "Stacks of platform threads from the JVM’s native memory tracking, " + MEMORY + EXPLAINED,
    choices: [{ lines: "stacks_committed_mb", label: "committed", unit: "MB" }, { lines: "stacks_reserved_mb", label: "reserved", unit: "MB" }] },
  { id: "gc", title: "Garbage collection over time",
    says: "The work of the collector in each second; the bold line is the mean of the runs.",
    choices: [{ lines: "gc_paused_ms_per_s", label: "stopped the application", unit: "ms/s" },
      { lines: "gc_longest_ms", label: "longest pause", unit: "ms" }, { lines: "allocated_mb_per_s", label: "allocated" + (EXPLAINED && ", explaining window"), unit: "MB/s" }] },

  { id: "threads", group: "Threads", title: "Threads over time",
    says: "The highest reading of each second.",
    choices: [{ lines: "os_threads", label: "OS threads", unit: "threads" }, { lines: "platform_threads", label: "platform threads in the JVM" + (EXPLAINED && ", explaining window"), unit: "threads" }] },
  { id: "carriers", title: "Virtual threads over time",
    says: "Carriers run virtual threads; the dashed line is how many may run at once." + EXPLAINED,
    choices: [{ lines: "carriers_mounted", label: "carriers with a virtual thread", unit: "carriers", limit: "parallelism" },
      { lines: "carriers_running", label: "carriers on a core", unit: "carriers", limit: "parallelism" },
      { lines: "virtual_threads_queued", label: "virtual threads waiting for a carrier", unit: "threads" },
      { lines: "carriers", label: "carriers there are", unit: "carriers", limit: "parallelism" }] },
  { id: "pinned", title: "Pinned carriers over time", optional: true,
    says: "How long virtual threads waited without leaving their carrier, all carriers added up. The bold line is the mean of the runs." + EXPLAINED,
    choices: [{ lines: "pinned_ms_per_s", unit: "ms/s" }] },
  { id: "pool", title: "The request pool over time",
    says: "Threads of the server’s pool; the dashed line is how many it may have." + EXPLAINED,
    choices: [{ lines: "pool_busy", label: "busy", unit: "threads", limit: "pool_max" },
      { lines: "pool_queued", label: "requests waiting for a thread", unit: "requests" },
      { lines: "pool_size", label: "all", unit: "threads", limit: "pool_max" }] },
  { id: "connections", title: "The connection pool over time",
    says: "Connections of the pool; the dashed line is how many it may have." + EXPLAINED,
    choices: [{ lines: "connections_busy", label: "busy", unit: "connections", limit: "connections_max" },
      { lines: "connections_queued", label: "waiting for one", unit: "threads or requests" }] },
  { id: "cpu", group: "CPU", title: "CPU over time", cores: true,
    says: "In cores, the mean of each second; the dashed line is all the machine has.",
    choices: [{ lines: "cpu_cores", label: "the server", unit: "cores" }, { lines: "machine_cpu_cores", label: "the whole machine", unit: "cores" }] },
];

const chosen = (figure) => figure.choices[figure.chosen || 0];
const lines = (figure, variant) => load().variants[variant][chosen(figure).lines];
// Has a variant anything to draw in a figure?
const told = (figure, variant) => (figure.sweep ? figure.sweep.some((point) => point.variant === variant)
  : lines(figure, variant).median.some((value) => value !== null));
const step = (figure) => (figure.own ? 1 : load().step_s);

// A figure shows only the choices that some variant has data for, and is left out without any.
function withData(figure) {
  if (figure.against) {
    const choices = figure.choices.filter(({ key }) => figure.sweep.some((point) => point[key] !== null));
    return figure.sweep.length && choices.length ? { ...figure, choices } : null;
  }
  // One load is a heap of points, no line.
  if (figure.sweep) return new Set(figure.sweep.map((point) => (figure.asked ? point.rate_per_s : point.load))).size > 1 ? figure : null;
  const drawable = (choice) => data.loads.some((one) => one.variants.some((variant) =>
    variant[choice.lines].median.some((value) => value !== null && (!figure.optional || value > 0))));
  const choices = figure.choices.filter(drawable);
  return choices.length ? { ...figure, choices } : null;
}

// The title of what is drawn now, for a picture that stands alone.
function fullTitle(figure) {
  const label = chosen(figure).label;
  return figure.title + (label ? " (" + label + ")" : "");
}

// What happened at one moment, as lanes under a picture over time.
const KINDS = [["pauses", "GC pause"], ["pins", "pinned"], ["warnings", "warning"]];

function lanes(figure) {
  if (!figure.events) return [];
  return KINDS.filter(([kind]) => load().variants.some((variant) => variant.events[kind].shown.length));
}
