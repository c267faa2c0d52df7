// Pictures that stand alone, with a title, names and a background of their own.

const SAVED = { width: 960, height: 540 };

function exportOption(figure) {
  const title = fullTitle(figure) + (figure.sweep ? "" : ", " + shorten(load().words, 60));
  const base = option(figure, SAVED.width, false);
  const ink = colour("--ink"), grids = [].concat(base.grid);
  grids[0] = { ...grids[0], top: 98 };
  return {
    ...base, backgroundColor: colour("--paper"), tooltip: { show: false }, grid: grids,
    title: { text: title, subtext: shorten(document.querySelector("h1").textContent, 110), left: 12, top: 8,
      itemGap: 10, textStyle: { color: ink, fontSize: 17, fontFamily: font() }, subtextStyle: { color: colour("--soft"), fontSize: 12, fontFamily: font() } },
    legend: { show: true, left: 8, top: 56, icon: "rect", itemHeight: 4, textStyle: { color: ink, fontFamily: font() },
      data: shownVariants().filter((variant) => told(figure, variant)).map((variant) => ({ name: data.variants[variant], itemStyle: { color: variantColour(variant) } })),
      formatter: (name) => shorten(name, 40) },
  };
}

// The picture as a data URL.
function picture(figure, type) {
  const place = make("div");
  place.style.cssText = "position:absolute;left:-9999px;width:" + SAVED.width + "px;height:" + SAVED.height + "px";
  document.body.append(place);
  const chart = echarts.init(place, null, { renderer: type === "svg" ? "svg" : "canvas", ...SAVED });
  chart.setOption(exportOption(figure));
  const url = chart.getDataURL({ type, pixelRatio: 2, backgroundColor: colour("--paper") });
  chart.dispose();
  place.remove();
  return url;
}

function pictureName(figure) {
  const words = data.loads.length > 1 && !figure.sweep ? slug(load().words) + "-" : "";
  return words + figure.id + (figure.chosen ? "-" + slug(chosen(figure).label) : "");
}

function save(figure, type) {
  make("a", { href: picture(figure, type), download: "threadcount-" + pictureName(figure) + "." + type }).click();
}

// The page as a whole is drawn for its tests.
globalThis.threadcount = { paintAll };
