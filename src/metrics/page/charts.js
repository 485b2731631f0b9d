// charts.js: the charts of the dashboard. Each is made once and given new data after that; light and dark make them anew.
const drawn = {}; // by name: work, curve, latency, size, quantile
const axis = (title, more) => ({ title: { display: Boolean(title), text: title }, grid: { color: colour("grid") },
  border: { color: colour("line") }, ...more });
const legend = { position: "bottom", labels: { usePointStyle: true, pointStyle: "rectRounded", boxHeight: 8 } };
// Ticks: figures without zeros behind the point; of a logarithmic axis, powers of ten.
const figure = (value) => short(value, plainNumber);
const spanText = (ns) => timeText(ns / 1e3, plainNumber);
const logTicks = (text) => ({ callback: (value, i, ticks) => tickText(value, { min: ticks[0].value, max: ticks.at(-1).value }, text) });

function chart(name, type, options) {
  if (!drawn[name]) {
    drawn[name] = new Chart(find(`${name}-chart`), { type, data: { labels: [], datasets: [] }, options });
    charts.push(drawn[name]);
  }
  return drawn[name];
}

// Sets of the same label keep what the legend did to them.
function give(drawing, sets, labels) {
  const known = new Map(drawing.data.datasets.map((set) => [set.label, set]));
  drawing.data.datasets = sets.map((set) => Object.assign(known.get(set.label) ?? {}, set));
  if (labels) drawing.data.labels = labels;
  drawing.update("none");
}

const onTime = () => axis("seconds ago", { type: "linear", min: -120, max: 0, ticks: { callback: (value) => String(-value) } });

// Points [seconds ago, value] of all snapshots but the first.
function overTime(value) {
  const now = seconds(view.stats);
  return view.history.slice(1).map((one, i) => ({ x: seconds(one) - now, y: value(view.history[i], one) }));
}

// ---- where work ran -------------------------------------------------------------------------------------------------

function drawWork() {
  const drawing = chart("work", "line", { interaction: { mode: "index", intersect: false }, plugins: { legend },
    scales: { x: onTime(), y: axis("parts each second", { stacked: true, beginAtZero: true, ticks: { callback: figure } }) } });
  give(drawing, view.stats.devices.map((device, i) => {
    const hue = colour(lane(device));
    return { label: device.id, data: overTime((from, to) => rate(from, to, (one) => partsOn(one, device.index))), fill: i ? "-1" : "origin",
      borderColor: hue, backgroundColor: faint(hue, 0.28), borderWidth: 2, pointRadius: 0, tension: 0.2 };
  }));
}

// ---- one operation --------------------------------------------------------------------------------------------------

const chosen = () => view.stats.operations.find((op) => op.name === view.op);

// The measured points of a device: by size, of several depths that with the most samples.
function curvePoints(op, device) {
  const best = new Map();
  for (const [of, on, units, samples, ns, low, high] of view.curves)
    if (of === op && on === device && samples > (best.get(units)?.samples ?? 0)) best.set(units, { x: units, y: ns, samples, low, high });
  return [...best.values()].sort((a, b) => a.x - b.x);
}

// The smallest measured size from which a device stays below nine tenths of another's time.
function winsFrom(points, others) {
  let from = null;
  for (const point of points) {
    const other = others.find((one) => one.x === point.x);
    if (other) from = point.y < 0.9 * other.y ? (from ?? point.x) : null;
  }
  return from;
}

function drawCurves(op) {
  const drawing = chart("curve", "line", { parsing: false, plugins: { legend, tooltip: { callbacks: {
    label: ({ dataset, raw }) => `${dataset.label}: ${nsText(raw.y)} (${nsText(raw.low)} to ${nsText(raw.high)}), ${raw.samples} samples` } } },
  scales: {
    x: axis("units", { type: "logarithmic", ticks: logTicks(figure) }),
    y: axis("", { type: "logarithmic", ticks: logTicks(spanText) }),
  } });
  const curves = view.stats.devices.map((device) => ({ device, points: curvePoints(op.op, device.index) })).filter((one) => one.points.length);
  give(drawing, curves.map(({ device, points }) => ({ label: device.id, data: points, borderColor: colour(lane(device)),
    backgroundColor: colour(lane(device)), borderWidth: 2, pointRadius: 3.5 })));
  const [first, ...others] = curves;
  const words = others.map(({ device, points }) => {
    const from = winsFrom(points, first.points);
    return from === null ? `${device.id} does not win at any size measured so far.`
      : `${device.id} wins from ${whole(from)} ${op.unit}s on.`;
  });
  find("crossover").textContent = !curves.length
    ? "Nothing was measured yet; with a single device there is nothing to choose, and nothing is." : words.join(" ");
}

function drawLatency(op) {
  const drawing = chart("latency", "bar", { plugins: { legend }, scales: {
    x: axis("took up to", { stacked: true }), y: axis("parts", { stacked: true, beginAtZero: true, ticks: { callback: figure } }) } });
  const lines = [...latencies(view.stats, op.name).keys()].sort((a, b) => a - b);
  give(drawing, op.devices.map((pair) => {
    const device = view.stats.devices[pair.device], counts = latencies(view.stats, op.name, pair.device);
    return { label: device.id, data: lines.map((ns) => counts.get(ns) ?? 0), backgroundColor: colour(lane(device)),
      categoryPercentage: 0.94, barPercentage: 1 };
  }), lines.map((ns) => timeText(ns / 1e3, plainNumber3)));
  const counts = latencies(view.stats, op.name);
  find("latency-words").textContent =
    `Half of all within ${nsText(quantile(counts, 0.5))}, 99 % within ${nsText(quantile(counts, 0.99))}, since the executor was opened.`;
}
const plainNumber3 = (value) => String(Number(value.toPrecision(3)));

function drawSizes(op) {
  const drawing = chart("size", "bar", { plugins: { legend: { display: false } }, scales: {
    x: axis(`${op.unit}s, up to`), y: axis("parts", { beginAtZero: true, ticks: { callback: figure } }) } });
  drawing.options.scales.x.title.text = `${op.unit}s, up to`;
  give(drawing, [{ label: "parts", data: op.sizes.map(([, count]) => count), backgroundColor: colour("lane-0"),
    categoryPercentage: 0.94, barPercentage: 1 }], op.sizes.map(([units]) => sizeText(units)));
}

function drawQuantiles(op) {
  const drawing = chart("quantile", "line", { plugins: { legend }, scales: { x: onTime(),
    y: axis("", { type: "logarithmic", ticks: logTicks(spanText) }) } });
  const line = (share) => overTime((from, to) => quantile(grown(latencies(to, op.name), latencies(before(to, WINDOW_S), op.name)), share));
  const style = (name, dash) => ({ borderColor: colour(name), backgroundColor: colour(name), borderWidth: 2, borderDash: dash,
    pointRadius: 0, tension: 0.2, spanGaps: true });
  give(drawing, [{ label: "median", data: line(0.5), ...style("lane-0", []) }, { label: "99 %", data: line(0.99), ...style("lane-1", [6, 4]) }]);
}

function drawAll() {
  if (!view.stats) return;
  drawWork();
  const op = chosen();
  if (!op) return;
  find("op-heading").textContent = op.name;
  drawCurves(op);
  drawLatency(op);
  drawSizes(op);
  drawQuantiles(op);
}

setUpTheme(() => {
  clearCharts();
  for (const name of Object.keys(drawn)) delete drawn[name];
  drawAll();
});
round();
