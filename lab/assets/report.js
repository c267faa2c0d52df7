// The pictures of a Threadcount report. All data stands in the page's #data element; nothing is fetched.
// Text from the data reaches the page only as textContent, never as markup.
(function () {
  "use strict";

  const data = JSON.parse(document.getElementById("data").textContent);
  const DASHES = ["solid", [6, 3], [2, 2]];
  const COLOURS = 6;

  // One entry for each figure. `lines` names the field of a variant's data.
  const FIGURES = [
    { id: "curve", title: "Response time by percentile", unit: "ms", lines: "curve_ms", percentile: true,
      says: "How long the slowest 1 in 10, in 100, in 1,000 … requests waited. The line ends at the slowest request." },
    { id: "rate", title: "Throughput over time", unit: "/s", lines: "rate_per_s", zero: true,
      says: "Expected answers completed in each second." },
    { id: "failures", title: "Failures over time", unit: "/s", lines: "failed_per_s", zero: true, optional: true,
      says: "Requests that failed in each second." },
    { id: "p99", title: "Slow requests over time", unit: "ms", lines: "p99_ms", zero: true,
      choices: [["p99_ms", "99th percentile"], ["max_ms", "slowest"], ["p50_ms", "median"]],
      says: "Response time within each second." },
    { id: "memory", title: "Memory over time", unit: "MB", lines: "rss_mb", zero: true,
      says: "Resident set of the server’s process tree (10⁶ bytes), the highest reading of each second." },
    { id: "threads", title: "OS threads over time", unit: "threads", lines: "os_threads", zero: true,
      says: "Threads of the operating system, the highest reading of each second." },
    { id: "cpu", title: "CPU over time", unit: "cores", lines: "cpu_cores", zero: true,
      says: "CPU the server’s process tree used, as cores, the mean of each second." },
    { id: "sweep", title: "Response time against throughput", unit: "ms", sweep: true, zero: true,
      says: "One point for each load, means over the runs; solid the 99th percentile, dotted the median." },
  ];

  const state = { load: 0, shown: data.variants.map(() => true), printing: false };
  const drawn = [];

  function make(tag, properties, children) {
    const element = Object.assign(document.createElement(tag), properties || {});
    (children || []).forEach((child) => element.append(child));
    return element;
  }

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // Single quotes, because a saved SVG has the font within an attribute.
  const font = () => colour("--sans").replaceAll('"', "'");
  const variantColour = (index) => colour("--v" + ((index % COLOURS) + 1));
  const dash = (index) => DASHES[Math.floor(index / COLOURS) % DASHES.length];
  // Control characters would make a saved SVG ill-formed.
  const clean = (text) => text.replace(/[\u0000-\u001f\u007f\ufffe\uffff]/g, "\ufffd");
  const shorten = (text, length) => clean(text.length > length ? text.slice(0, length - 1) + "…" : text);

  function number(value) {
    if (value === null || value === undefined) return "–";
    const size = Math.abs(value);
    const digits = size >= 1000 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  }
  const tick = (value) => value.toLocaleString("en", { maximumFractionDigits: 6 });
  const quantity = (value, unit) => number(value) + (unit === "/s" ? "/s" : " " + unit);

  // 0 → "0 %", log10(2) → "50 %", 1 → "90 %", 3 → "99.9 %"
  function percentile(nines) {
    const share = 100 * (1 - Math.pow(10, -nines));
    const digits = Math.min(6, Math.max(0, Math.ceil(nines - 1.0001) - (nines % 1 === 0 ? 1 : 0)));
    return (nines < 1 ? share.toFixed(0) : share.toFixed(Math.max(digits, nines % 1 === 0 ? 0 : 1))) + " %";
  }

  // ---- what a figure shows -------------------------------------------------------------------------------------

  const load = () => data.loads[state.load];
  const field = (figure) => figure.chosen || figure.lines;
  const lines = (figure, variant) => load().variants[variant][field(figure)];
  const shownVariants = () => data.variants.map((_, index) => index).filter((index) => state.shown[index]);

  function hasData(figure) {
    if (figure.sweep) return new Set(data.sweep.map((point) => point.load)).size > 1;
    const values = data.loads.flatMap((one) => one.variants.flatMap((variant) => variant[figure.lines].median));
    return values.some((value) => value !== null && (!figure.optional || value > 0));
  }

  // A second without a reading is a gap; a percentile nobody recorded is passed over with a straight line.
  function points(figure, values) {
    if (!figure.percentile) return values.map((value, place) => [place + 0.5, value]);
    return values.map((value, place) => [load().nines[place], value]).filter(([, value]) => value !== null);
  }

  function lineSeries(figure, variant) {
    const all = lines(figure, variant);
    const style = { color: variantColour(variant), type: dash(variant) };
    const common = { type: "line", symbol: "none", animation: false };
    // All single runs are one series with gaps: a tenth of the work of one series each.
    const gap = [null, null];
    const faint = all.runs.length < 2 ? [] : [{
      ...common, id: "r" + variant, name: data.variants[variant], silent: true, z: 2,
      data: all.runs.flatMap((run) => [...points(figure, run), gap]),
      lineStyle: { ...style, width: 1, opacity: 0.28 },
    }];
    return faint.concat([{
      ...common, id: "m" + variant, name: data.variants[variant], data: points(figure, all.median), z: 3,
      lineStyle: { ...style, width: 2.2 }, itemStyle: { color: style.color }, emphasis: { disabled: true },
      showSymbol: all.median.length < 2, symbol: "circle", symbolSize: 5,
    }]);
  }

  function sweepSeries(variant) {
    const mine = data.sweep.filter((point) => point.variant === variant);
    const one = (key, type, width) => ({
      type: "line", id: key + variant, name: data.variants[variant], animation: false, symbol: "circle", symbolSize: 7,
      data: mine.map((point) => ({ value: [point.rate_per_s, point[key]], load: point.load, what: key.slice(0, 3) })),
      lineStyle: { color: variantColour(variant), type, width }, itemStyle: { color: variantColour(variant) },
    });
    return [one("p99_ms", "solid", 2.2), one("p50_ms", "dotted", 1.4)];
  }

  // ---- the hover box, built from elements so that no name can become markup --------------------------------------

  function tip(heading, rows) {
    const body = rows.map(([index, what, text]) => make("tr", {}, [
      make("td", {}, [swatch(index)]),
      make("td", { textContent: shorten(data.variants[index], 40) + what }),
      make("td", { className: "number", textContent: text }),
    ]));
    const table = make("table", {}, [make("caption", { textContent: heading }), make("tbody", {}, body)]);
    return make("div", { className: "tip" }, [table]);
  }

  function lineTip(figure) {
    return (items) => {
      const medians = items.filter((item) => item.seriesId.startsWith("m") && item.value[1] !== null);
      if (!medians.length) return "";
      const x = medians[0].value[0];
      const heading = figure.percentile ? percentile(x) + " waited no longer than" : "second " + Math.ceil(x);
      return tip(heading, medians.map((item) => [Number(item.seriesId.slice(1)), "", quantity(item.value[1], figure.unit)]));
    };
  }

  function sweepTip(item) {
    const variant = Number(item.seriesId.replace(/^p\d\d_ms/, ""));
    return tip(item.data.load, [
      [variant, "", quantity(item.value[0], "/s")],
      [variant, " " + item.data.what, quantity(item.value[1], "ms")],
    ]);
  }

  // ---- ECharts options -------------------------------------------------------------------------------------------

  function axis(extra) {
    const soft = colour("--soft"), rule = colour("--rule");
    return {
      type: "value", nameTextStyle: { color: soft, fontFamily: font() }, axisLine: { show: true, lineStyle: { color: soft } },
      axisLabel: { color: soft, fontFamily: font(), hideOverlap: true, formatter: tick }, axisTick: { show: true, lineStyle: { color: soft } },
      splitLine: { lineStyle: { color: rule, opacity: 0.6 } }, ...extra,
      ...(extra.axisLabel ? { axisLabel: { color: soft, fontFamily: font(), hideOverlap: true, ...extra.axisLabel } } : {}),
    };
  }

  function xAxis(figure) {
    const bottom = { nameLocation: "middle", nameGap: 30, splitLine: { show: false } };
    if (figure.sweep) return axis({ ...bottom, name: "answers per second", min: 0 });
    if (!figure.percentile) return axis({ ...bottom, name: "seconds since the measured window began", min: 0, max: longest(figure) });
    const last = load().nines[load().nines.length - 1];
    const ticks = [0, Math.log10(2), 1, 2, 3, 4, 5, 6, 7].filter((tick) => tick <= last + 0.01);
    return axis({
      ...bottom, name: "share of requests", min: 0, max: last, axisTick: { customValues: ticks },
      axisLabel: { customValues: ticks, formatter: percentile }, splitLine: { show: false },
    });
  }

  // The last second in which any variant has a reading, so that hiding a variant does not move the axis.
  function longest(figure) {
    return Math.max(1, ...load().variants.map((variant) => variant[field(figure)].median.length));
  }

  function yAxis(figure) {
    const name = figure.unit === "/s" ? "per second" : figure.unit;
    const logarithmic = figure.percentile && figure.logarithmic;
    return axis({ name, nameLocation: "end", nameGap: 10, type: logarithmic ? "log" : "value", min: logarithmic ? undefined : 0,
      axisLine: { show: false }, axisTick: { show: false }, nameTextStyle: { color: colour("--soft"), align: "left", fontFamily: font() } });
  }

  function option(figure) {
    const shown = shownVariants();
    return {
      animation: false, textStyle: { fontFamily: font() }, backgroundColor: "transparent",
      grid: { left: 12, right: 18, top: 34, bottom: 44, containLabel: true },
      xAxis: xAxis(figure), yAxis: yAxis(figure),
      series: shown.flatMap((variant) => (figure.sweep ? sweepSeries(variant) : lineSeries(figure, variant))),
      tooltip: {
        trigger: figure.sweep ? "item" : "axis", confine: true, transitionDuration: 0, backgroundColor: colour("--paper"), borderColor: colour("--soft"),
        formatter: figure.sweep ? sweepTip : lineTip(figure), axisPointer: { type: "line", lineStyle: { color: colour("--soft") }, animation: false },
      },
    };
  }

  // A picture that stands alone: title, names and a background of its own.
  function exportOption(figure) {
    const title = figure.title + (figure.sweep ? "" : ", " + shorten(load().words, 60));
    const base = option(figure);
    return {
      ...base, backgroundColor: colour("--paper"), tooltip: { show: false }, grid: { ...base.grid, top: 84 },
      title: { text: title, left: 12, top: 8, textStyle: { color: colour("--ink"), fontSize: 15, fontFamily: font() } },
      legend: { show: true, left: 8, top: 36, icon: "rect", itemHeight: 3, textStyle: { color: colour("--ink") },
        data: shownVariants().map((variant) => ({ name: data.variants[variant], itemStyle: { color: variantColour(variant) } })),
        formatter: (name) => shorten(name, 40) },
    };
  }

  // ---- saving ------------------------------------------------------------------------------------------------------

  function save(figure, type) {
    const place = make("div");
    place.style.cssText = "position:absolute;left:-9999px;width:960px;height:520px";
    document.body.append(place);
    const chart = echarts.init(place, null, { renderer: type === "svg" ? "svg" : "canvas", width: 960, height: 520 });
    chart.setOption(exportOption(figure));
    const href = chart.getDataURL({ type, pixelRatio: 2, backgroundColor: colour("--paper") });
    const link = make("a", { href, download: "threadcount-" + figure.id + "." + type });
    link.click();
    chart.dispose();
    place.remove();
  }

  // ---- the table behind a figure -------------------------------------------------------------------------------------

  function tableOf(figure) {
    let columns, cells;
    if (figure.sweep) {
      columns = ["load", "answers per second", "median", "99th percentile"];
      const rows = data.sweep.filter((point) => state.shown[point.variant]);
      cells = rows.map((p) => [data.variants[p.variant], p.load, quantity(p.rate_per_s, "/s"), quantity(p.p50_ms, "ms"), quantity(p.p99_ms, "ms")]);
    } else if (figure.percentile) {
      const places = load().nines.map((nines, place) => [nines, place]);
      const wanted = places.filter(([nines]) => Math.abs(nines - Math.log10(2)) < 1e-6 || (nines > 0 && nines % 1 === 0));
      columns = wanted.map(([nines]) => percentile(nines)).concat(["slowest"]);
      cells = shownVariants().map((variant) => {
        const median = lines(figure, variant).median;
        const last = median.filter((value) => value !== null).pop();
        return [data.variants[variant]].concat(wanted.map(([, place]) => quantity(median[place], figure.unit)), [quantity(last, figure.unit)]);
      });
    } else {
      columns = ["lowest second", "median second", "highest second"];
      cells = shownVariants().map((variant) => {
        const sorted = lines(figure, variant).median.filter((value) => value !== null).sort((a, b) => a - b);
        const picked = [sorted[0], sorted[Math.floor((sorted.length - 1) / 2)], sorted[sorted.length - 1]];
        return [data.variants[variant]].concat(picked.map((value) => quantity(value, figure.unit)));
      });
    }
    const head = make("tr", {}, ["variant"].concat(columns).map((text, at) => make("th", { scope: "col", textContent: text, className: at ? "number" : "" })));
    const body = cells.map((row) => make("tr", {}, row.map((text, at) => (at
      ? make("td", { textContent: text, className: "number" }) : make("th", { scope: "row", textContent: text })))));
    const caption = make("caption", { textContent: figure.title + (figure.sweep ? "" : ", " + load().words) + ": the median run." });
    return make("table", {}, [caption, make("thead", {}, [head]), make("tbody", {}, body)]);
  }

  // ---- building the page ----------------------------------------------------------------------------------------------

  function swatch(variant) {
    const mark = make("span", { className: "swatch" });
    mark.style.borderTopColor = variantColour(variant);
    mark.style.borderTopStyle = dash(variant) === "solid" ? "solid" : "dashed";
    mark.style.display = "inline-block";
    return mark;
  }

  function button(text, label, action) {
    const made = make("button", { type: "button", textContent: text });
    made.setAttribute("aria-label", label);
    made.addEventListener("click", action);
    return made;
  }

  function choice(figure) {
    const select = make("select", {}, figure.choices.map(([value, text]) => make("option", { value, textContent: text })));
    select.setAttribute("aria-label", figure.title + ": which response time");
    select.addEventListener("change", () => { figure.chosen = select.value; draw(figure); });
    return select;
  }

  function logarithmic(figure) {
    const box = make("input", { type: "checkbox" });
    box.addEventListener("change", () => { figure.logarithmic = box.checked; draw(figure); });
    return make("label", { className: "tools" }, [box, "logarithmic"]);
  }

  function build(figure, index) {
    figure.place = make("div", { className: "chart", id: "chart-" + figure.id });
    figure.place.setAttribute("role", "img");
    const tools = make("div", { className: "tools" }, [
      button("PNG", "Save “" + figure.title + "” as PNG", () => save(figure, "png")),
      button("SVG", "Save “" + figure.title + "” as SVG", () => save(figure, "svg")),
    ]);
    if (figure.choices) tools.prepend(choice(figure));
    if (figure.percentile) tools.prepend(logarithmic(figure));
    const holder = make("div", { className: "scroll", tabIndex: 0 });
    holder.setAttribute("role", "region");
    holder.setAttribute("aria-label", "Table of " + figure.title);
    figure.table = make("details", {}, [make("summary", { textContent: "Figure " + (index + 1) + " as a table" }), holder]);
    figure.table.addEventListener("toggle", () => tabulate(figure));
    figure.heading = make("strong");
    figure.number = index + 1;
    const caption = make("figcaption", {}, [figure.heading, figure.says]);
    document.getElementById("pictures").append(make("figure", {}, [caption, figure.place, tools, figure.table]));
    figure.chart = echarts.init(figure.place, null, { renderer: "svg" });
    draw(figure);
    drawn.push(figure);
    new ResizeObserver(() => figure.chart.resize()).observe(figure.place);
  }

  function tabulate(figure) {
    if (figure.table.open) figure.table.querySelector(".scroll").replaceChildren(tableOf(figure));
  }

  function draw(figure) {
    figure.chart.setOption(option(figure), { notMerge: true });
    const under = figure.sweep || data.loads.length < 2 ? "" : ", " + shorten(load().words, 60);
    const names = shownVariants().map((variant) => shorten(data.variants[variant], 60)).join(", ");
    figure.place.setAttribute("aria-label", figure.title + under + ", for " + (names || "no variant")
      + ". " + figure.says + " The same figures stand in the table below the picture.");
    figure.heading.textContent = "Figure " + figure.number + ". " + figure.title + under + ". ";
    tabulate(figure);
  }

  const PRINTED = { width: 640, height: 290 }; // the width of a printed page; report.css has the same
  // At once, because a print does not wait for the next frame.
  const resize = (size) => drawn.forEach((figure) => { figure.chart.resize(size); figure.chart.getZr().flush(); });
  const drawAll = () => drawn.forEach(draw);

  function controls() {
    const form = document.getElementById("controls");
    form.addEventListener("submit", (event) => event.preventDefault());
    if (data.loads.length > 1) {
      const select = make("select", { id: "load" }, data.loads.map((one, index) => make("option", { value: index, textContent: shorten(one.words, 60) })));
      select.addEventListener("change", () => { state.load = Number(select.value); drawAll(); });
      form.append(make("label", {}, ["Load", select]));
    }
    const group = make("fieldset", {}, [make("legend", { textContent: "Variants" })]);
    data.variants.forEach((name, index) => {
      const box = make("input", { type: "checkbox", checked: true, name: "variant" });
      box.addEventListener("change", () => { state.shown[index] = box.checked; drawAll(); });
      group.append(make("label", { title: shorten(name, 200) }, [box, swatch(index), make("span", { textContent: name })]));
    });
    form.append(group);
  }

  function recolourSwatches() {
    document.querySelectorAll("#controls .swatch").forEach((mark, index) => { mark.style.borderTopColor = variantColour(index); });
  }

  // ---- light and dark ---------------------------------------------------------------------------------------------------

  const KEY = "threadcount-theme";
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");

  function stored() {
    try { return localStorage.getItem(KEY); } catch { return null; } // a file: page may have no storage
  }

  function applyTheme(theme) {
    document.documentElement.dataset.theme = theme;
    document.getElementById("theme").setAttribute("aria-pressed", String(theme === "dark"));
    recolourSwatches();
    drawAll();
  }

  function themes() {
    let asked = stored();
    const current = () => asked || (prefersDark.matches ? "dark" : "light");
    document.getElementById("theme").addEventListener("click", () => {
      asked = current() === "dark" ? "light" : "dark";
      try { localStorage.setItem(KEY, asked); } catch { /* it then lasts as long as the page */ }
      applyTheme(asked);
    });
    prefersDark.addEventListener("change", () => applyTheme(current()));
    addEventListener("beforeprint", () => { applyTheme("light"); resize(PRINTED); });
    addEventListener("afterprint", () => { applyTheme(current()); resize(); });
    applyTheme(current());
  }

  themes();
  if (!data.loads.length) {
    document.getElementById("pictures").append(make("p", { textContent: "No run has figures, so there is nothing to draw." }));
    return;
  }
  controls();
  // One figure after the other, so that the text can be read before the last one is drawn.
  const waiting = FIGURES.filter(hasData);
  const total = waiting.length;
  (function next() {
    const figure = waiting.shift();
    if (!figure) { document.documentElement.dataset.ready = "true"; return; }
    build(figure, total - waiting.length - 1);
    setTimeout(next, 0);
  })();
})();
