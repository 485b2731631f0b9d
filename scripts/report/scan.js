// scan.js: curves of a scan: a panel for each machine, all with the same axes.
const column = Object.fromEntries(data.columns.map((name, i) => [name, i]));
const words = ["host", "cpu", "backend", "device", "driver", "op", "verified", "winner", "decided"];

// What stands in a field of the file: text, a number, or null where it is empty. Saving writes the text as it was.
function value(row, name) {
  const text = name in column ? data.rows[row][column[name]] : "";
  return words.includes(name) ? text : text === "" ? null : Number(text);
}
const side = (row, who, what) => value(row, `${who}_${what}_us`) ?? value(row, `${who}_us`);
const unclear = new Set(data.unclear);
const shapes = ["circle", "rectRot", "triangle", "rect", "star", "crossRot"];
const state = { op: data.ops[0], view: "time", first: false, all: false };

// The same backend has the same colour on every machine.
const slots = [];
for (const machine of data.machines) {
  const seen = {};
  for (const lane of machine.lanes) {
    seen[lane.backend] = (seen[lane.backend] ?? 0) + 1;
    const key = `${lane.backend} ${seen[lane.backend]}`;
    if (!slots.includes(key)) slots.push(key);
    lane.slot = slots.indexOf(key) % shapes.length;
  }
}

// ---- lines ----------------------------------------------------------------------------------------------------------

// A curve with its band: [x, median, p90, low].
function curve(label, hue, shape, points, tell) {
  const line = (at) => points.map((point) => ({ x: point[0], y: point[at] }));
  const edge = { label, part: "band", borderWidth: 0, pointRadius: 0, pointHitRadius: 0, order: 2,
    backgroundColor: faint(hue, 0.22) };
  return [{ label, data: line(1), tell, ...look(hue, shape) }, { ...edge, data: line(3), fill: false },
    { ...edge, data: line(2), fill: "-1" }];
}

// Of a curve of medians.
const look = (hue, shape) => ({ part: "median", borderColor: hue, backgroundColor: hue, borderWidth: 2.25, pointStyle: shape,
  pointRadius: 4, pointHoverRadius: 6, clip: 8, order: 1 });

function laneRows(lane) {
  return lane.ops[state.op]?.rows ?? [];
}

function timeSets(machine) {
  const sets = curve(`CPU: ${machine.cpu}`, colour("cpu"), "line", machine.cpu_lines[state.op] ?? [], (i) => {
    const [, , p90, low] = machine.cpu_lines[state.op][i];
    return `p90 ${timeText(p90)}, fastest ${timeText(low)}`;
  });
  for (const lane of machine.lanes) {
    const rows = laneRows(lane);
    if (!rows.length) continue;
    const hue = colour(`lane-${lane.slot}`);
    const points = rows.map((row) => [value(row, "size"), ...["median", "p90", "min"].map((what) => side(row, "gpu", what))]);
    sets.push(...curve(lane.label, hue, shapes[lane.slot], points, (i) =>
      `p90 ${timeText(points[i][2])}, fastest ${timeText(points[i][3])}, ${value(rows[i], "samples")} samples`));
    sets.push(...firstRuns(lane, (us) => us, "first run, with all that is done once"));
  }
  return sets;
}

const speedup = (row) => side(row, "cpu", "median") / side(row, "gpu", "median");

function speedupSets(machine) {
  return machine.lanes.filter((lane) => laneRows(lane).length).flatMap((lane) => {
    const points = laneRows(lane).map((row) => ({ x: value(row, "size"), y: speedup(row) }));
    const style = look(colour(`lane-${lane.slot}`), shapes[lane.slot]);
    return [{ label: lane.label, data: points, tell: () => "of medians", ...style },
      ...firstRuns(lane, (us, row) => side(row, "cpu", "median") / us, "first run beside the CPU's median")];
  });
}

// The cold curve, where it is wanted and was measured.
function firstRuns(lane, figure, words) {
  const rows = laneRows(lane).filter((row) => value(row, "first_us"));
  if (!state.first || !rows.length) return [];
  const points = rows.map((row) => ({ x: value(row, "size"), y: figure(value(row, "first_us"), row) }));
  return [{ ...look(colour(`lane-${lane.slot}`), shapes[lane.slot]), label: `${lane.label}, first run`, part: "first",
    data: points, tell: () => words, backgroundColor: colour("card"), borderWidth: 1.75, borderDash: [5, 4] }];
}

// ---- what is drawn over the lines -----------------------------------------------------------------------------------

// Crossovers as dashed verticals with a ring on the curve; in the speed-up view a line at 1.
const marks = {
  id: "marks",
  afterDatasetsDraw(chart, _, { machine }) {
    const { ctx, chartArea: area, scales } = chart;
    ctx.save();
    ctx.font = `600 12px ${Chart.defaults.font.family}`;
    if (state.view === "speedup") level(chart, 1, "as fast as the CPU");
    let height = area.top + 14;
    for (const lane of machine.lanes) {
      const size = lane.ops[state.op]?.crossover;
      if (!size) continue;
      const hue = colour(`lane-${lane.slot}`), x = scales.x.getPixelForValue(size);
      ctx.strokeStyle = ctx.fillStyle = hue;
      ctx.lineWidth = 1.5;
      ctx.setLineDash([6, 5]);
      stroke(ctx, [x, area.top, x, area.bottom]);
      ctx.setLineDash([]);
      const row = laneRows(lane).find((one) => value(one, "size") === size);
      const y = state.view === "time" ? side(row, "gpu", "median") : speedup(row);
      ctx.beginPath();
      ctx.arc(x, scales.y.getPixelForValue(y), 9, 0, 2 * Math.PI);
      ctx.stroke();
      label(ctx, area, x, height, `${lane.backend} wins from ${sizeText(size)}`);
      height += 19;
    }
    ctx.restore();
  },
};

function stroke(ctx, [x1, y1, x2, y2]) {
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x2, y2);
  ctx.stroke();
}

function level(chart, y, text) {
  const { ctx, chartArea: area, scales } = chart;
  if (y < scales.y.min || y > scales.y.max) return;
  const at = scales.y.getPixelForValue(y);
  ctx.strokeStyle = ctx.fillStyle = colour("soft");
  ctx.lineWidth = 1.25;
  stroke(ctx, [area.left, at, area.right, at]);
  ctx.textAlign = "right";
  ctx.fillText(text, area.right - 6, at - 6);
}

// Right of the line, or left of it where there is no room, and never outside; on a ground of its own.
function label(ctx, area, x, y, text) {
  const width = ctx.measureText(text).width, right = x + 8 + width < area.right - 4;
  const start = Math.max(area.left + 4, right ? x + 8 : Math.min(x - 8, area.right - 4) - width);
  const hue = ctx.fillStyle;
  ctx.fillStyle = faint(colour("card"), 0.85);
  ctx.fillRect(start - 3, y - 12, width + 6, 17);
  ctx.fillStyle = hue;
  ctx.textAlign = "left";
  ctx.fillText(text, start, y);
}

// ---- panels ---------------------------------------------------------------------------------------------------------

// The ends of the axes over all panels, with a little air.
function ranges(all) {
  const points = all.flat().flatMap((set) => set.data);
  const ends = (at, air) => {
    const values = points.map((point) => point[at]);
    return [Math.min(...values) / air, Math.max(...values) * air];
  };
  if (!points.length) return null;
  const sizes = [...new Set(points.map((point) => point.x))].sort((a, b) => a - b);
  return { x: ends("x", 1.12), y: ends("y", 1.5), sizes };
}

function axes(range) {
  const grid = { color: colour("grid"), borderColor: colour("line"), tickColor: colour("line") };
  const text = state.view === "time" ? (v) => timeText(v, plainNumber) : (v) => `${plainNumber(v)}×`;
  const title = state.view === "time" ? "Time of a batch, median" : "Times as fast as the CPU";
  const axis = (ends, words) => ({ type: "logarithmic", min: ends[0], max: ends[1], grid, title: { display: true, text: words } });
  return {
    x: { ...axis(range.x, `Size (${data.units[state.op]})`),
      afterBuildTicks: (scale) => { scale.ticks = thin(range.sizes, scale).map((v) => ({ value: v })); },
      ticks: { callback: (v) => sizeText(v), maxRotation: 0, autoSkip: false } },
    y: { ...axis(range.y, title),
      ticks: { callback: (v) => tickText(v, { min: range.y[0], max: range.y[1] }, text), autoSkip: false } },
  };
}

// Sizes that have room for their label: some 52 pixels apart.
function thin(sizes, axis) {
  const scale = (axis.width || 600) / Math.log(axis.max / axis.min), kept = [];
  for (const size of sizes)
    if (!kept.length || scale * Math.log(size / kept[kept.length - 1]) >= 52) kept.push(size);
  return kept;
}

// A click hides a curve with its band.
function toggle(event, item, legend) {
  const { chart } = legend, visible = chart.isDatasetVisible(item.datasetIndex);
  const name = chart.data.datasets[item.datasetIndex].label;
  chart.data.datasets.forEach((set, i) => { if (set.label === name) chart.setDatasetVisibility(i, !visible); });
  chart.update();
}

function options(machine, range) {
  const figure = state.view === "time" ? timeText : timesText;
  return {
    interaction: { mode: "nearest", axis: "x", intersect: false },
    scales: axes(range),
    plugins: {
      marks: { machine },
      legend: { align: "start", onClick: toggle, labels: {
        usePointStyle: true, boxHeight: 8, padding: 14, color: colour("ink"),
        filter: (item, all) => all.datasets[item.datasetIndex].part !== "band" } },
      tooltip: { filter: (item) => item.dataset.part !== "band", usePointStyle: true, padding: 10, callbacks: {
        title: (items) => (items.length ? `${state.op}, size ${whole(items[0].parsed.x)}` : ""),
        label: (item) => `${item.dataset.label}: ${figure(item.parsed.y)} (${item.dataset.tell(item.dataIndex)})` } },
    },
  };
}

function result(machine) {
  const lines = machine.lanes.map((lane) => {
    const text = lane.ops[state.op]?.text ?? "not measured";
    return make("p", { className: "result" }, swatch(lane), make("b", {}, lane.label),
      text.startsWith("from") ? ` wins ${text}` : `: ${text}`);
  });
  return lines.length ? lines : [make("p", { className: "result" }, "No device beside the CPU was measured.")];
}

function drawPanels() {
  clearCharts();
  const sets = data.machines.map(state.view === "time" ? timeSets : speedupSets), range = ranges(sets);
  const panels = data.machines.map((machine, i) => {
    const canvas = make("canvas", { role: "img" });
    canvas.setAttribute("aria-label", `${state.op} on ${machine.name}: curves of the table below`);
    const frame = make("div", { className: "frame" }, canvas);
    const title = data.machines.length > 1 ? make("h3", {}, machine.name) : null;
    const drawn = range && sets[i].length ? frame : "Nothing was measured here.";
    const panel = make("div", { className: "panel" }, title, drawn, ...result(machine));
    return { panel, canvas, i };
  });
  find("panels").replaceChildren(...panels.map((one) => one.panel));
  for (const { canvas, i } of panels)
    if (range && sets[i].length)
      charts.push(new Chart(canvas, { type: "line", data: { datasets: sets[i] }, plugins: [marks],
        options: options(data.machines[i], range) }));
  const band = data.columns.includes("gpu_p90_us") ? "Bands reach from the fastest sample to the 90th percentile. "
    : "One sample a point: the spread is not known. ";
  find("legend-note").textContent = (state.view === "time" ? band : "") +
    "K = 1,024, M = 1,048,576. Names in the legend hide and show their curves.";
}

// ---- around them ----------------------------------------------------------------------------------------------------

const swatch = (lane) => {
  const box = make("span", { className: "swatch" });
  box.style.background = `var(--lane-${lane.slot})`;
  return box;
};

function showMachines() {
  const chip = (lane) => make("span", { className: lane.kind === "GPU" ? "chip" : "chip warn" }, lane.kind);
  find("machines").replaceChildren(...data.machines.map((machine) => {
    const lanes = machine.lanes.flatMap((lane) => [make("dt", {}, swatch(lane), lane.backend),
      make("dd", {}, lane.device, " ", chip(lane), make("div", { className: "small" }, lane.driver))]);
    const head = [make("dt", {}, "Machine"), make("dd", {}, make("b", {}, machine.name)), make("dt", {}, "CPU"),
      make("dd", {}, machine.cpu)];
    return make("div", { className: "machine" }, make("dl", {}, ...head, ...lanes));
  }));
  const kinds = new Set(data.machines.flatMap((machine) => machine.lanes.map((lane) => lane.kind)));
  const words = {
    "CPU device": "a CPU device computes on the host's own cores behind a GPU's interface, and its times say nothing about a GPU",
    "modelled device": "a modelled device keeps the clock of a model, not of hardware",
    "test device": "a test device is there to be tested with, and its times mean nothing",
  };
  const cautions = Object.keys(words).filter((kind) => kinds.has(kind)).map((kind) => words[kind]);
  find("caution").hidden = !cautions.length;
  find("caution").textContent = cautions.length ? `Mind what was measured: ${cautions.join("; ")}.` : "";
}

function showCrossovers() {
  const lanes = data.machines.flatMap((machine) => machine.lanes.map((lane) => ({ lane, machine })));
  const of = data.machines.length > 1 ? (machine) => `${machine.name}: ` : () => "";
  const name = ({ lane, machine }) => make("span", {}, swatch(lane), of(machine) + lane.label);
  const texts = (op) => lanes.map(({ lane }) => lane.ops[op]?.text ?? "not measured");
  fillTable(find("crossovers"), [["Operation"], ...lanes.map((one) => [name(one)])],
    data.ops.map((op) => [make("button", { type: "button" }, op), ...texts(op)]));
  find("crossovers").querySelectorAll("tbody tr").forEach((line, i) => {
    line.className = "choose";
    line.addEventListener("click", () => { choose(data.ops[i]); find("panels").scrollIntoView({ block: "nearest" }); });
  });
}

const LIMIT = 300; // rows that are shown at once: thousands take a browser longer than a reader

// Of the table: heading, is it a figure?, the cell of a row.
const has = (row) => value(row, "gpu_us") !== null;
const gpu = (what) => (row) => (has(row) ? timeText(side(row, "gpu", what)) : "–");
const time = (name) => (row) => timeText(value(row, name));
const cells = [
  ...(data.machines.length > 1 ? [["Machine", 0, (row) => data.machines[data.machine_of[row]].name]] : []),
  ["Backend", 0, (row) => value(row, "backend")],
  ["Size", 1, (row) => whole(value(row, "size"))],
  ["Runs", 1, (row) => value(row, "samples")],
  ["CPU median", 1, (row) => timeText(side(row, "cpu", "median"))],
  ["CPU p90", 1, (row) => timeText(side(row, "cpu", "p90"))],
  ["Device median", 1, gpu("median")],
  ["Device p90", 1, gpu("p90")],
  ["Speed-up", 1, (row) => timesText(has(row) ? speedup(row) : null)],
  ["First run", 1, time("first_us")],
  ["Set-up", 1, time("setup_us")],
  ["Upload", 1, time("upload_us")],
  ["Compute", 1, time("compute_us")],
  ["Readback", 1, time("readback_us")],
  ["Right", 0, (row) => value(row, "verified")],
  ["Winner", 0, (row) => value(row, "winner") + (unclear.has(row) ? " ~" : "")],
];

function showRows() {
  const rows = data.rows.flatMap((row, i) => (row[column.op] === state.op ? [i] : []));
  const shown = state.all ? rows : rows.slice(0, LIMIT);
  fillTable(find("rows"), cells, shown.map((row) => cells.map(([, , text]) => text(row))));
  find("rows-of").textContent = `of ${state.op}: ${whole(rows.length)} of ${whole(data.rows.length)} rows`;
  const more = make("button", { type: "button" }, `Show all ${whole(rows.length)} rows`);
  more.addEventListener("click", () => { state.all = true; showRows(); });
  const doubt = "~ the scan could not decide: more samples might turn the winner. ";
  find("more").replaceChildren(rows.some((row) => unclear.has(row)) ? doubt : "", ...(shown.length < rows.length ? [more] : []));
}

function choose(op) {
  state.op = op;
  state.all = false;
  find("op").value = op;
  const lines = find("crossovers").querySelectorAll("tbody tr");
  lines.forEach((line, i) => line.classList.toggle("chosen", data.ops[i] === op));
  drawPanels();
  showRows();
}

find("op").replaceChildren(...data.ops.map((op) => make("option", { value: op }, op)));
find("op").addEventListener("change", (event) => choose(event.target.value));
find("view").addEventListener("change", (event) => { state.view = event.target.value; drawPanels(); });
find("first").addEventListener("change", (event) => {
  state.first = event.target.checked;
  drawPanels();
});
find("save").textContent = `Save CSV (${whole(data.rows.length)} rows)`;
find("save").addEventListener("click", () => save("scan.csv", csvText(data.columns, data.rows)));
showMachines();
showCrossovers();
setUpTheme(() => choose(state.op));
