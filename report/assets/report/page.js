// The pictures of a Threadcount report. All data stands in the page's #data element; nothing is fetched.
// Text from the data reaches the page only as textContent, never as markup.
// The files of this folder are put together, in the order of html/mod.rs, into one function.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const state = { load: 0, shown: data.variants.map(() => true) };
const drawn = [];

const DASHES = ["solid", [6, 3], [2, 2]];
const COLOURS = 6;

function make(tag, properties, children) {
  const element = Object.assign(document.createElement(tag), properties || {});
  (children || []).forEach((child) => element.append(child));
  return element;
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
// Single quotes, because a saved SVG has the font within an attribute.
const font = () => colour("--sans").replaceAll('"', "'");
const variantColour = (index) => colour("--v" + ((data.places[index] % COLOURS) + 1));
const dash = (index) => DASHES[Math.floor(data.places[index] / COLOURS) % DASHES.length];

// Control characters would make a saved SVG ill-formed.
const clean = (text) => text.replace(/[\u0000-\u001f\u007f\ufffe\uffff]/g, "\ufffd");
const shorten = (text, length) => clean(text.length > length ? text.slice(0, length - 1) + "…" : text);
const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 40) || "load";

function number(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  const digits = size >= 1000 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
const tick = (value) => value.toLocaleString("en", { maximumFractionDigits: 6 });
const quantity = (value, unit) => number(value) + (unit === "/s" ? "/s" : unit ? " " + unit : "");

// 0 → "0 %", log10(2) → "50 %", 1 → "90 %", 3 → "99.9 %"
function percentile(nines) {
  const share = 100 * (1 - Math.pow(10, -nines));
  const digits = Math.min(6, Math.max(0, Math.ceil(nines - 1.0001) - (nines % 1 === 0 ? 1 : 0)));
  return (nines < 1 ? share.toFixed(0) : share.toFixed(Math.max(digits, nines % 1 === 0 ? 0 : 1))) + " %";
}

const load = () => data.loads[state.load];
const shownVariants = () => data.variants.map((_, index) => index).filter((index) => state.shown[index]);
