// Light and dark, printing, and the begin of everything.

const KEY = "threadcount-theme";
const PRINTED = { width: 640, height: 290 }; // the width of a printed page; page.css has the same
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const darkRule = [...document.styleSheets[0].cssRules].find((rule) => rule.media && rule.media.mediaText.includes("prefers-color-scheme"));

function stored() {
  try { return localStorage.getItem(KEY); } catch { return null; } // a file: page may have no storage
}

function applyTheme(theme) {
  darkRule.media.mediaText = theme === "dark" ? "screen" : "not all";
  document.getElementById("theme").setAttribute("aria-pressed", String(theme === "dark"));
  document.querySelectorAll("#controls .swatch").forEach((mark, index) => { mark.style.borderTopColor = variantColour(index); });
  drawAll();
}

// At once, because a print does not wait for the next frame.
const resize = (size) => drawn.filter(({ chart }) => chart).forEach((figure) => { figure.chart.resize(size); draw(figure); figure.chart.getZr().flush(); });

function themes() {
  let asked = stored();
  document.getElementById("theme").hidden = false;
  const current = () => asked || (prefersDark.matches ? "dark" : "light");
  document.getElementById("theme").addEventListener("click", () => {
    asked = current() === "dark" ? "light" : "dark";
    try { localStorage.setItem(KEY, asked); } catch { /* it then lasts as long as the page */ }
    applyTheme(asked);
  });
  prefersDark.addEventListener("change", () => applyTheme(current()));
  let opened = []; // for paper: there nobody opens the intervals
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll(".request-time, .request-time details")].filter((one) => !one.open);
    opened.forEach((one) => { one.open = true; });
    applyTheme("light"); paintAll(); resize(PRINTED);
  });
  addEventListener("afterprint", () => { opened.forEach((one) => { one.open = false; }); applyTheme(current()); resize(); });
  applyTheme(current());
}

// The places of all figures at once; each is drawn when it comes into view.
function begin() {
  themes();
  const pictures = document.getElementById("pictures");
  if (!data.loads.length) {
    pictures?.append(make("p", { textContent: "No run has figures, so there is nothing to draw." }));
    document.documentElement.dataset.ready = "true";
    return;
  }
  controls();
  let heading, group;
  const there = FIGURES.map((figure) => ({ ...withData(figure), heading: (heading = figure.group || heading) })).filter((figure) => figure.choices);
  let shown;
  there.forEach((figure, place) => {
    if (figure.heading !== shown) {
      shown = figure.heading;
      group = make("div", { className: "pictures" });
      pictures.append(make("h3", { textContent: shown }), group);
    }
    build(Object.assign(figure, { group, number: place + 1 }));
  });
  document.documentElement.dataset.ready = "true";
}

begin();
