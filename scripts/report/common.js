// common.js: what all kinds of page share: data, colours, figures for people, tables, saving, light and dark.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const charts = []; // those on the page
const find = (id) => document.getElementById(id);

// make("td", {className: "right"}, "text", child...): an element. Text stays text, whatever a device is called.
function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const faint = (hex, part) => hex + Math.round(255 * part).toString(16).padStart(2, "0");

// ---- figures --------------------------------------------------------------------------------------------------------

const digits = (value) => value.toFixed(Math.abs(value) < 9.995 ? 2 : Math.abs(value) < 99.95 ? 1 : 0);
const whole = (value) => value.toLocaleString("en-GB");

function timeText(us, format = digits) {
  if (us === null || us === undefined) return "–";
  for (const [unit, scale] of [["ns", 1e-3], ["µs", 1], ["ms", 1e3]])
    if (us < 999.5 * scale) return `${format(us / scale)}\u00a0${unit}`;
  return `${format(us / 1e6)}\u00a0s`;
}

const timesText = (factor) => (factor === null || factor === undefined ? "–" : `${digits(factor)}×`);

// 65536 -> "64 K"; what is no such multiple stays whole.
function sizeText(size) {
  for (const [unit, scale] of [["M", 1 << 20], ["K", 1 << 10]])
    if (size >= scale && size % scale === 0) return `${whole(size / scale)}\u00a0${unit}`;
  return whole(size);
}

// A tick of a logarithmic axis: powers of ten, and 2 and 5 where the axis is short.
function tickText(value, axis, text) {
  const mantissa = Number((value / 10 ** Math.floor(Math.log10(value) + 1e-9)).toPrecision(6));
  const decades = Math.log10(axis.max / axis.min);
  return mantissa === 1 || (decades < 3 && (mantissa === 2 || mantissa === 5)) ? text(value) : null;
}
const plainNumber = (value) => String(Number(value.toPrecision(6)));

// ---- tables and files -----------------------------------------------------------------------------------------------

// columns: [heading, is it a figure?]; rows: arrays of text or elements
function fillTable(table, columns, rows) {
  const style = (i) => (columns[i][1] ? "right" : "");
  const head = make("tr", {}, ...columns.map(([text], i) => make("th", { className: style(i), scope: "col" }, text)));
  const lines = rows.map((row) => make("tr", {}, ...row.map((cell, i) => make("td", { className: style(i) }, cell))));
  table.replaceChildren(make("thead", {}, head), make("tbody", {}, ...lines));
}

// RFC 4180, but for the end of a line, which is that of Unix, as the scan writes it.
function csvText(columns, rows) {
  const field = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns, ...rows].map((row) => row.map(field).join(",") + "\n").join("");
}

function save(name, text) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// ---- light and dark -------------------------------------------------------------------------------------------------

const dark = matchMedia("(prefers-color-scheme: dark)");

function setUpTheme(redraw) {
  const themes = ["", "light", "dark"];
  const names = { "": "Theme: system", light: "Theme: light", dark: "Theme: dark" };
  const button = find("theme");
  const show = (theme) => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    button.textContent = names[theme];
    if (hasCharts) Chart.defaults.color = colour("soft");
    redraw();
  };
  let chosen = "";
  button.addEventListener("click", () => show((chosen = themes[(themes.indexOf(chosen) + 1) % themes.length])));
  dark.addEventListener("change", () => show(chosen));
  show(chosen);
}

const hasCharts = typeof Chart !== "undefined"; // not every kind draws with it
if (hasCharts) {
  Chart.defaults.animation = false;
  Chart.defaults.maintainAspectRatio = false;
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 13;
}

function clearCharts() {
  while (charts.length) charts.pop().destroy();
}
