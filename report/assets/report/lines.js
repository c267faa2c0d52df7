// The data of a figure as ECharts series.

// A second without a reading is a gap; a percentile nobody recorded is passed over with a straight line.
function points(figure, values) {
  if (!figure.percentile) return values.map((value, place) => [(place + 0.5) * step(figure), value]);
  return values.map((value, place) => [load().nines[place], value]).filter(([, value]) => value !== null);
}

function lineSeries(figure, variant, labelled) {
  const all = lines(figure, variant);
  const style = { color: variantColour(variant), type: dash(variant) };
  const common = { type: "line", symbol: "none", animation: false };
  // All single runs are one series with gaps: a tenth of the work of one series each.
  const gap = [null, null];
  const faint = all.runs.length < 2 ? [] : [{
    ...common, id: "r" + variant, name: data.variants[variant], silent: true, z: 2,
    data: all.runs.flatMap((run) => [...points(figure, run), gap]),
    lineStyle: { ...style, width: 1, opacity: 0.25 },
  }];
  return faint.concat([{
    ...common, id: "m" + variant, name: data.variants[variant], data: points(figure, all.median), z: 3,
    lineStyle: { ...style, width: 2.4 }, itemStyle: { color: style.color }, emphasis: { disabled: true },
    showSymbol: all.median.length < 2, symbol: "circle", symbolSize: 6,
    endLabel: { show: labelled, formatter: shorten(data.variants[variant], LABEL), color: style.color, fontFamily: font(), fontSize: 12, distance: 4, backgroundColor: colour("--paper"), padding: [1, 3] },
  }]);
}

const LABEL = 18;

// Names at the ends of lines that end near each other are moved apart. Where they stand is known only when they are drawn.
function spreadLabels(figure) {
  const apart = 15; // pixels
  const labels = shownVariants().map((variant) => {
    const key = figure.against ? chosen(figure).key : "p99_ms";
    const id = figure.sweep ? key + ":" + variant : "m" + variant;
    const ends = figure.sweep
      ? figure.sweep.filter((point) => point.variant === variant).map((point) => point[key]).filter((value) => value !== null)
      : lines(figure, variant).median.filter((value) => value !== null);
    return ends.length ? { id, at: figure.chart.convertToPixel({ yAxisIndex: 0 }, ends[ends.length - 1]) } : null;
  }).filter((label) => label && Number.isFinite(label.at)).sort((a, b) => a.at - b.at);
  labels.forEach((label, index) => { label.to = index ? Math.max(label.at, labels[index - 1].to + apart) : label.at; });
  // Pushed down only, the last might leave the picture: the lowest stays above the axis, and pushes the others up.
  let floor = figure.chart.convertToPixel({ yAxisIndex: 0 }, figure.logarithmic || figure.log ? 1 : 0) || Infinity;
  [...labels].reverse().forEach((label) => { label.to = Math.min(label.to, floor); floor = label.to - apart; });
  const moved = labels.filter((label) => Math.abs(label.to - label.at) > 0.5);
  if (moved.length) figure.chart.setOption({ series: moved.map(({ id, at, to }) => ({ id, endLabel: { offset: [0, to - at] } })) });
}

// The most that a figure can be, dashed, where it is near enough to be seen beside the readings.
function limitSeries(figure) {
  const of = (variant) => (figure.cores ? data.cores : load().variants[variant][chosen(figure).limit]);
  const highest = Math.max(0, ...shownVariants().flatMap((variant) => lines(figure, variant).median));
  const seen = new Map();
  shownVariants().forEach((variant) => {
    const limit = of(variant);
    const drawn = lines(figure, variant).median.some((value) => value !== null);
    if (limit && drawn && limit <= 4 * highest && !seen.has(limit)) seen.set(limit, figure.cores ? colour("--soft") : variantColour(variant));
  });
  return [...seen].map(([limit, stroke]) => ({
    type: "line", id: "l" + limit, animation: false, silent: true, symbol: "none", z: 1,
    data: [[0, limit], [longest(figure), limit]], lineStyle: { color: stroke, width: 1.2, type: [4, 4], opacity: 0.8 },
  }));
}

// The ids of these lines are `figure:variant`.
function sweepSeries(figure, variant, labelled) {
  const mine = figure.sweep.filter((point) => point.variant === variant);
  const one = (key, type, width, named) => ({
    type: "line", id: key + ":" + variant, name: data.variants[variant], animation: false, symbol: "circle", symbolSize: 8,
    data: mine.map((point) => ({ value: [figure.against ? point.x : point.rate_per_s, point[key]], load: point.load, what: key.slice(0, 3) })),
    lineStyle: { color: variantColour(variant), type, width }, itemStyle: { color: variantColour(variant) },
    endLabel: { show: labelled && named, formatter: shorten(data.variants[variant], LABEL), color: variantColour(variant), fontFamily: font(), fontSize: 12, distance: 8 },
  });
  if (figure.against) return [one(chosen(figure).key, "solid", 2.4, true)];
  return [one("p99_ms", "solid", 2.4, true), one("p50_ms", "dotted", 1.6, false)];
}

// The limit of a search for the capacity, dashed from side to side.
function limitOfSweep(figure) {
  if (!figure.limit_ms) return [];
  const last = Math.max(...figure.sweep.map((point) => point.rate_per_s));
  return [{ type: "line", id: "l", animation: false, silent: true, symbol: "none", z: 1, data: [[0, figure.limit_ms], [last, figure.limit_ms]],
    lineStyle: { color: colour("--soft"), width: 1.2, type: [4, 4] } }];
}

const LANE = 20; // pixels

// One row for each kind of event; within it the variants stand below each other.
function laneSeries(figure) {
  const shown = shownVariants();
  return lanes(figure).flatMap(([kind], row) => shown.map((variant, slot) => ({
    type: "scatter", id: "e" + kind + variant, name: data.variants[variant], xAxisIndex: 1, yAxisIndex: 1, animation: false,
    symbol: "rect", symbolSize: [3, Math.max(3, (0.8 * LANE) / shown.length)], itemStyle: { color: variantColour(variant), opacity: 0.85 },
    data: load().variants[variant].events[kind].shown.map((mark) => ({
      value: [mark.t_s, row - 0.4 + (0.8 * (slot + 0.5)) / shown.length], variant, text: "run " + mark.run + ": " + mark.text })),
  })));
}

// The events of a step, for the hover box: how many of each kind, and the first of them.
function eventsBetween(figure, variant, from, to) {
  return lanes(figure).flatMap(([kind, name]) => {
    const marks = load().variants[variant].events[kind].shown.filter((mark) => mark.t_s >= from && mark.t_s < to);
    if (!marks.length) return [];
    return [[variant, " " + name + (marks.length > 1 ? " × " + marks.length : ""), shorten(marks[0].text, 48)]];
  });
}

// The last second in which any variant has a reading, so that hiding a variant does not move the axis.
function longest(figure) {
  return step(figure) * Math.max(1, ...load().variants.map((variant) => variant[chosen(figure).lines].median.length));
}
