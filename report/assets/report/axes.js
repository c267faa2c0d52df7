// Axes, grids and hover boxes: everything of an ECharts option that is no data.

const LEFT = 62, RIGHT = 18, TOP = 34, BOTTOM = 44; // pixels around a picture; fixed, so that lanes stand below their picture

function swatch(variant) {
  const mark = make("span", { className: "swatch" });
  mark.style.borderTopColor = variantColour(variant);
  mark.style.borderTopStyle = dash(variant) === "solid" ? "solid" : "dashed";
  return mark;
}

// The hover box is built from elements so that no name can become markup.
function tip(heading, rows) {
  const body = rows.map(([index, what, text]) => make("tr", {}, [
    make("td", {}, [swatch(index)]),
    make("td", { textContent: shorten(data.variants[index], 40) + what }),
    make("td", { className: "number", textContent: text }),
  ]));
  const table = make("table", {}, [make("caption", { textContent: heading }), make("tbody", {}, body)]);
  return make("div", { className: "tip" }, [table]);
}

function when(figure, x) {
  if (figure.percentile) return percentile(x) + " waited no longer than";
  const last = Math.round(x + step(figure) / 2);
  return step(figure) === 1 ? "second " + last : "seconds " + (last - step(figure) + 1) + " to " + last;
}

function lineTip(figure) {
  return (items) => {
    const event = items.filter((item) => item.seriesId.startsWith("e"));
    if (event.length) {
      return tip(number(event[0].value[0]) + " s", event.map((item) => [item.data.variant, "", item.data.text]));
    }
    const medians = items.filter((item) => item.seriesId.startsWith("m") && item.value[1] !== null);
    if (!medians.length) return "";
    const x = medians[0].value[0], half = step(figure) / 2;
    const rows = medians.map((item) => [Number(item.seriesId.slice(1)), "", quantity(item.value[1], chosen(figure).unit)]);
    const events = figure.events ? shownVariants().flatMap((variant) => eventsBetween(figure, variant, x - half, x + half)) : [];
    return tip(when(figure, x), rows.concat(events));
  };
}

function sweepTip(figure) {
  return (item) => {
    const variant = Number(item.seriesId.split(":")[1]);
    if (figure.against) return tip(item.data.load, [[variant, "", quantity(item.value[1], chosen(figure).unit)]]);
    return tip(item.data.load, [
      [variant, figure.asked ? " asked" : "", quantity(item.value[0], "/s")],
      [variant, " " + item.data.what, quantity(item.value[1], "ms")],
    ]);
  };
}

function axis(extra) {
  const soft = colour("--soft"), rule = colour("--rule");
  const label = { color: soft, fontFamily: font(), fontSize: 12, hideOverlap: true, formatter: tick };
  return {
    type: "value", nameTextStyle: { color: soft, fontFamily: font() }, axisLine: { show: true, lineStyle: { color: soft } },
    axisTick: { show: true, lineStyle: { color: soft } }, splitLine: { lineStyle: { color: rule } }, ...extra,
    axisLabel: { ...label, ...extra.axisLabel },
  };
}

function xAxis(figure) {
  const bottom = { nameLocation: "middle", nameGap: 28, splitLine: { show: false } };
  if (figure.sweep) return axis({ ...bottom, name: figure.against || (figure.asked ? "requests per second asked" : "responses per second"), min: 0 });
  if (!figure.percentile) return axis({ ...bottom, name: figure.own ? "seconds of warm-up" : "seconds of the measured window", min: 0, max: longest(figure) });
  const last = load().nines[load().nines.length - 1];
  const ticks = [0, Math.log10(2), 1, 2, 3, 4, 5, 6, 7].filter((place) => place <= last + 0.01);
  return axis({
    ...bottom, name: "share of requests", min: 0, max: last, axisTick: { customValues: ticks },
    axisLabel: { customValues: ticks, formatter: percentile },
  });
}

function yAxis(figure) {
  const unit = chosen(figure).unit, log = figure.log || (figure.percentile && figure.logarithmic);
  return axis({ name: unit === "/s" ? "per second" : unit, nameLocation: "end", nameGap: 12, type: log ? "log" : "value", min: log ? undefined : 0,
    axisLine: { show: false }, axisTick: { show: false },
    nameTextStyle: { color: colour("--soft"), align: "left", fontFamily: font(), padding: [0, 0, 0, -LEFT + 12] } });
}

// The lanes of events have axes of their own; the time axis stands below them.
function laneAxes(figure) {
  const kinds = lanes(figure);
  const rows = kinds.map((_, row) => row);
  const x = xAxis(figure);
  return {
    x: { ...x, gridIndex: 1, axisLine: { ...x.axisLine, onZero: false } },
    y: axis({ gridIndex: 1, inverse: true, min: -0.5, max: kinds.length - 0.5, axisLine: { show: false }, axisTick: { show: false },
      splitLine: { show: false }, axisLabel: { customValues: rows, formatter: (row) => kinds[row][1], fontSize: 11, hideOverlap: false } }),
  };
}

// `size` is the width of the picture; `labelled` names the lines at their ends, where there is room.
function option(figure, width, labelled) {
  const shown = shownVariants();
  const longestName = Math.max(0, ...data.variants.map((name) => Math.min(name.length, LABEL)));
  const label = labelled && width >= 540 && shown.length <= COLOURS;
  const grid = { left: LEFT, right: label ? 14 + 7.2 * longestName : RIGHT, top: TOP, bottom: BOTTOM };
  const under = lanes(figure).length * LANE;
  const main = { ...xAxis(figure), ...(under ? { name: "", axisLabel: { show: false }, axisTick: { show: false } } : {}) };
  const lane = under ? laneAxes(figure) : null;
  const soft = colour("--soft");
  return {
    animation: false, textStyle: { fontFamily: font() }, backgroundColor: "transparent",
    grid: lane ? [{ ...grid, bottom: BOTTOM + under + 6 }, { ...grid, top: undefined, height: under, bottom: BOTTOM }] : grid,
    xAxis: lane ? [main, lane.x] : main, yAxis: lane ? [yAxis(figure), lane.y] : yAxis(figure),
    series: shown.flatMap((variant) => (figure.sweep ? sweepSeries(figure, variant, label) : lineSeries(figure, variant, label)))
      .concat(figure.sweep ? limitOfSweep(figure) : figure.percentile ? [] : limitSeries(figure), lane ? laneSeries(figure) : []),
    tooltip: {
      trigger: figure.sweep ? "item" : "axis", confine: true, transitionDuration: 0, backgroundColor: colour("--paper"), borderColor: soft,
      formatter: figure.sweep ? sweepTip(figure) : lineTip(figure), axisPointer: { type: "line", lineStyle: { color: soft }, animation: false },
    },
  };
}
