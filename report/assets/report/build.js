// The figures as elements of the page, and the controls above them.

function button(text, label, action) {
  const made = make("button", { type: "button", textContent: text });
  made.setAttribute("aria-label", label);
  made.addEventListener("click", action);
  return made;
}

function choice(figure) {
  const select = make("select", {}, figure.choices.map(({ label }, index) => make("option", { value: index, textContent: label })));
  select.setAttribute("aria-label", figure.title + ": which figure");
  select.addEventListener("change", () => { figure.chosen = Number(select.value); draw(figure); });
  return select;
}

function logarithmic(figure) {
  const box = make("input", { type: "checkbox" });
  box.addEventListener("change", () => { figure.logarithmic = box.checked; draw(figure); });
  return make("label", {}, [box, "logarithmic"]);
}

function build(figure) {
  figure.place = make("div", { className: "chart", id: "chart-" + figure.id });
  figure.place.setAttribute("role", "img");
  const tools = make("div", { className: "tools" }, [
    button("PNG", "Save “" + figure.title + "” as PNG", () => save(figure, "png")),
    button("SVG", "Save “" + figure.title + "” as SVG", () => save(figure, "svg")),
  ]);
  if (figure.choices.length > 1) tools.prepend(choice(figure));
  if (figure.percentile) tools.prepend(logarithmic(figure));
  const holder = make("div", { className: "scroll", tabIndex: 0 });
  holder.setAttribute("role", "region");
  holder.setAttribute("aria-label", "Table of " + figure.title);
  figure.table = make("details", {}, [make("summary", { textContent: "Figure " + figure.number + " as a table" }), holder]);
  figure.table.addEventListener("toggle", () => tabulate(figure));
  figure.heading = make("strong");
  const caption = make("figcaption", {}, [figure.heading, figure.says]);
  figure.group.append(make("figure", { className: figure.wide ? "wide" : "" }, [caption, figure.place, tools, figure.table]));
  drawn.push(figure);
  draw(figure);
  new ResizeObserver(() => resizeOne(figure)).observe(figure.place);
  inView.observe(figure.place);
}

// A picture is drawn when a reader comes near it: a page of many pictures opens as quickly as one of a few.
const inView = new IntersectionObserver((entries) => entries.forEach((entry) => {
  const figure = drawn.find(({ place }) => place === entry.target);
  figure.seen = entry.isIntersecting;
  paint(figure);
}), { rootMargin: "300px 0px" });

// For a print, which does not wait for the reader to scroll.
function paintAll() {
  inView.disconnect();
  drawn.forEach((figure) => { figure.seen = true; paint(figure); });
}

// Names at the ends of the lines come and go with the room there is.
function resizeOne(figure) {
  if (!figure.chart) return;
  const before = figure.chart.getWidth() >= 540;
  figure.chart.resize();
  if ((figure.chart.getWidth() >= 540) !== before) draw(figure);
}

function tabulate(figure) {
  if (!figure.table.open) return;
  const tables = [tableOf(figure), eventTable(figure)].filter((table) => table);
  figure.table.querySelector(".scroll").replaceChildren(...tables);
}

function paint(figure) {
  if (!figure.seen || !figure.stale) return;
  figure.chart = figure.chart || echarts.init(figure.place, null, { renderer: "svg" });
  figure.chart.setOption(option(figure, figure.chart.getWidth(), true), { notMerge: true });
  if (figure.chart.getWidth() >= 540) spreadLabels(figure);
  figure.stale = false;
}

function draw(figure) {
  figure.stale = true;
  paint(figure);
  const under = figure.sweep || data.loads.length < 2 ? "" : ", " + shorten(load().words, 60);
  const names = shownVariants().map((variant) => shorten(data.variants[variant], 60)).join(", ");
  figure.place.setAttribute("aria-label", fullTitle(figure) + under + ", for " + (names || "no variant")
    + ". " + figure.says + " The same figures stand in the table below the picture.");
  figure.heading.textContent = "Figure " + figure.number + ". " + figure.title + under + ". ";
  tabulate(figure);
}

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
