// The table behind a figure.

function sweepTable(figure) {
  const rows = figure.sweep.filter((point) => state.shown[point.variant]);
  if (figure.against) {
    const { key, label, unit } = chosen(figure);
    return { columns: ["load", label], cells: rows.map((p) => [data.variants[p.variant], p.load, quantity(p[key], unit)]) };
  }
  return {
    columns: [figure.asked ? "step" : "load", figure.asked ? "asked" : "responses per second", "median", "99th percentile"],
    cells: rows.map((p) => [data.variants[p.variant], p.load, quantity(p.rate_per_s, "/s"), quantity(p.p50_ms, "ms"), quantity(p.p99_ms, "ms")]),
  };
}

function curveTable(figure) {
  const unit = chosen(figure).unit;
  const places = load().nines.map((nines, place) => [nines, place]);
  const wanted = places.filter(([nines]) => Math.abs(nines - Math.log10(2)) < 1e-6 || (nines > 0 && nines % 1 === 0));
  const row = (variant) => {
    const median = lines(figure, variant).median;
    const last = median.filter((value) => value !== null).pop();
    return [data.variants[variant]].concat(wanted.map(([, place]) => quantity(median[place], unit)), [quantity(last, unit)]);
  };
  return { columns: wanted.map(([nines]) => percentile(nines)).concat(["slowest"]), cells: shownVariants().map(row) };
}

function timeTable(figure) {
  const unit = chosen(figure).unit;
  const row = (variant) => {
    const sorted = lines(figure, variant).median.filter((value) => value !== null).sort((a, b) => a - b);
    const picked = [sorted[0], sorted[Math.floor((sorted.length - 1) / 2)], sorted[sorted.length - 1]];
    return [data.variants[variant]].concat(picked.map((value) => (value === undefined ? "–" : quantity(value, unit))));
  };
  return { columns: ["lowest second", "median second", "highest second"], cells: shownVariants().map(row) };
}

function tableOf(figure) {
  const { columns, cells } = figure.sweep ? sweepTable(figure) : figure.percentile ? curveTable(figure) : timeTable(figure);
  const head = make("tr", {}, ["variant"].concat(columns).map((text, at) => make("th", { scope: "col", textContent: text, className: at ? "number" : "" })));
  const body = cells.map((row) => make("tr", {}, row.map((text, at) => (at
    ? make("td", { textContent: text, className: "number" }) : make("th", { scope: "row", textContent: text })))));
  const caption = make("caption", { textContent: fullTitle(figure) + (figure.sweep ? "" : ", " + load().words) + ": the median run." });
  return make("table", {}, [caption, make("thead", {}, [head]), make("tbody", {}, body)]);
}

// The events that are drawn as lanes, as a table: who, when, what.
function eventTable(figure) {
  const rows = lanes(figure).flatMap(([kind, name]) => shownVariants().flatMap((variant) => {
    const { shown, left_out } = load().variants[variant].events[kind];
    const total = shown.length + left_out;
    return total ? [[data.variants[variant], name, tick(total), shown[0].text]] : [];
  }));
  if (!rows.length) return null;
  const head = make("tr", {}, ["variant", "event", "how many", "the first"].map((text) => make("th", { scope: "col", textContent: text })));
  const body = rows.map((row) => make("tr", {}, row.map((text, at) => make(at ? "td" : "th", { textContent: text }))));
  const caption = make("caption", { textContent: "Events of all runs." });
  return make("table", {}, [caption, make("thead", {}, [head]), make("tbody", {}, body)]);
}
