// dashboard.js: asks the server once a second, keeps the last two minutes, and fills in words and tables. charts.js draws.
// /?every=5 asks every five seconds; a text is made ten times a second at most, so more often than that is of no use.
const every = Number(new URLSearchParams(location.search).get("every"));
const EVERY_MS = every >= 0.1 && every <= 60 ? 1000 * every : 1000, PATIENCE_MS = 5000, KEEP = 121, SMOOTH_S = 5, WINDOW_S = 10;
const view = { op: null, held: false, history: [], stats: null, curves: [], fallbacks: "", answers: 0, lost: 0 };

// ---- what the snapshots say -----------------------------------------------------------------------------------------

const seconds = (stats) => stats.open_ns / 1e9;
const lane = (device) => (device.backend === "reference" ? "plain" : `lane-${device.index % 6}`);
const at = (value, path) => path.split(".").reduce((inner, key) => inner?.[key], value);

// The newest snapshot that is at least so many seconds older than another; the oldest, if none is.
function before(stats, age) {
  let found = view.history[0];
  for (const one of view.history) if (seconds(one) <= seconds(stats) - age) found = one;
  return found === stats ? null : found;
}

// How much a number grew each second, from one snapshot to another.
function rate(from, to, number) {
  const passed = from ? seconds(to) - seconds(from) : 0;
  return passed > 0 ? Math.max(0, (number(to) - number(from)) / passed) : null;
}

const bytesOf = (stats) => stats.devices.reduce((sum, device) => sum + device.bytes_in + device.bytes_out, 0);
const pairs = (stats, op) => stats.operations.filter((one) => op === null || one.name === op).flatMap((one) => one.devices);
const partsOn = (stats, device) =>
  pairs(stats, null).reduce((sum, pair) => sum + (pair.device === device ? pair.parts : 0), 0);

// Parts by the ns that they took at most, of an operation or of all, on a device or on all.
function latencies(stats, op, device = null) {
  const counts = new Map();
  for (const pair of stats ? pairs(stats, op) : [])
    if (device === null || pair.device === device)
      for (const [ns, count] of pair.latency_ns) counts.set(ns, (counts.get(ns) ?? 0) + count);
  return counts;
}

// Those of now less those of then.
function grown(now, then) {
  return new Map([...now].map(([ns, count]) => [ns, count - (then.get(ns) ?? 0)]).filter(([, count]) => count > 0));
}

// A quantile, ns: within a power of two by a straight line. null: there were none.
function quantile(counts, share) {
  const lines = [...counts].sort(([a], [b]) => a - b);
  let left = share * lines.reduce((sum, [, count]) => sum + count, 0);
  for (const [ns, count] of lines) {
    if (left <= count) return (ns / 2) * (1 + left / count);
    left -= count;
  }
  return null;
}

// ---- figures --------------------------------------------------------------------------------------------------------

const nsText = (ns) => (ns === null ? "–" : timeText(ns / 1e3));
// Only all is 100 %, and only nothing 0 %.
function percent(share) {
  const fine = (share > 0 && share < 0.0995) || (share > 0.9 && share < 1);
  return `${fine ? Math.min(99.9, Math.max(0.1, 100 * share)).toFixed(1) : Math.round(100 * share)}\u00a0%`;
}

function short(value, format = digits) {
  if (value === null) return "–";
  for (const [unit, scale] of [["G", 1e9], ["M", 1e6], ["k", 1e3]])
    if (value >= 0.9995 * scale) return `${format(value / scale)}\u00a0${unit}`;
  return format(value);
}

function bytesText(bytes) {
  if (bytes === null) return "–";
  for (const [unit, scale] of [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]])
    if (bytes >= scale) return `${digits(bytes / scale)}\u00a0${unit}`;
  return `${Math.round(bytes)}\u00a0B`;
}

function agoText(s) {
  if (s < 90) return `${Math.round(s)} s`;
  return s < 5400 ? `${Math.round(s / 60)} min` : `${(s / 3600).toFixed(1)} h`;
}

// An exact number of /stats.json, marked with where it stands there.
const exact = (path) => make("i", {}, whole(at(view.stats, path))).with("path", path);
HTMLElement.prototype.with = function (name, value) {
  this.dataset[name] = value;
  return this;
};

// A bar of parts: [share, colour].
function track(parts) {
  const bar = make("div", { className: "track" });
  for (const [share, name] of parts) {
    const part = make("span");
    part.style.flexBasis = `${100 * Math.min(1, share)}%`;
    part.style.background = `var(--${name})`;
    bar.append(part);
  }
  return bar;
}

function meter(label, share, name, words) {
  return make("div", { className: "meter" }, make("span", {}, label), track(share === null ? [] : [[share, name]]),
    make("span", { className: "value" }, share === null ? "–" : percent(share)),
    words ? make("span", { className: "small" }, ...words) : null);
}

// ---- the page -------------------------------------------------------------------------------------------------------

function fillTiles(stats) {
  const from = before(stats, SMOOTH_S), then = before(stats, WINDOW_S);
  find("rate-batches").textContent = short(rate(from, stats, (one) => one.work.batches));
  find("rate-tasks").textContent = short(rate(from, stats, (one) => one.work.tasks));
  find("rate-bytes").textContent = bytesText(rate(from, stats, bytesOf));
  find("all-bytes").textContent = `${bytesText(bytesOf(stats))} in all`;
  const recent = grown(latencies(stats, null), latencies(then, null));
  find("p50").textContent = nsText(quantile(recent, 0.5));
  find("p99").textContent = nsText(quantile(recent, 0.99));
  const router = stats.router, share = (ppm) => `${(ppm / 1e4).toFixed(2)} %`;
  find("regret").textContent = router.probes ? share(router.regret_ppm) : "–";
  find("regret-range").textContent = router.probes > 1
    ? `${share(router.regret_low_ppm)} to ${share(router.regret_high_ppm)}`
    : router.probes ? "one try: no interval" : "nothing was tried yet";
  for (const element of document.querySelectorAll("main > .tiles [data-path], .note [data-path]"))
    element.textContent = whole(at(stats, element.dataset.path));
}

function deviceCard(stats, from, device, i) {
  const path = (name) => `devices.${i}.${name}`;
  const busy = rate(from, stats, (one) => one.devices[i].busy_ns);
  const took = (one) => one.devices[i].setup_ns + one.devices[i].transfer_ns + one.devices[i].compute_ns;
  const all = from ? took(stats) - took(from) : 0;
  const useful = all > 0 ? (device.compute_ns - from.devices[i].compute_ns) / all : null;
  const fact = (name, value) => [make("dt", {}, name), make("dd", {}, value)];
  const words = [device.variant, device.kind === "modelled" ? "MODELLED" : device.kind].filter(Boolean).join(", ");
  return make("div", { className: "card" },
    make("h3", {}, make("span", {}, make("span", { className: "swatch", style: `background: var(--${lane(device)})` }), device.id),
      make("span", { className: device.health === "healthy" ? "health" : "health bad" }, device.health)),
    make("p", { className: "name" }, `${device.name} (${words})${device.health_reason ? `: ${device.health_reason}` : ""}`),
    meter("busy", busy === null ? null : busy / 1e9, lane(device)),
    meter("useful", useful, lane(device)),
    make("dl", {}, ...fact("tasks", exact(path("tasks"))), ...fact("launches", exact(path("launches"))),
      ...fact("failures", exact(path("failures"))), ...fact("strikes", exact(path("strikes"))),
      ...fact("queue", exact(path("queued"))), ...fact("memory held", bytesText(device.pool_bytes)),
      ...fact("bytes in", bytesText(device.bytes_in)), ...fact("bytes out", bytesText(device.bytes_out))));
}

function fillDevices(stats) {
  const from = before(stats, SMOOTH_S);
  find("devices").replaceChildren(...stats.devices.map((device, i) => deviceCard(stats, from, device, i)));
}

function operationRow(stats, from, op, i) {
  const parts = op.devices.reduce((sum, pair) => sum + pair.parts, 0);
  const failures = op.devices.reduce((sum, pair) => sum + Object.values(pair.failures).reduce((a, b) => a + b, 0), 0);
  const counts = latencies(stats, op.name);
  const total = (one) => pairs(one, op.name).reduce((sum, pair) => sum + pair.parts, 0);
  const shares = op.devices.map((pair) => [pair.parts / parts, lane(stats.devices[pair.device])]);
  const who = op.devices.map((pair) => `${stats.devices[pair.device].id} ${percent(pair.parts / parts)}`).join(", ");
  const words = op.devices.flatMap((pair, d) => [d ? " + " : "", exact(`operations.${i}.devices.${d}.parts`)]);
  return [make("button", { type: "button" }, op.name), short(rate(from, stats, total)), make("span", {}, ...words),
    make("div", {}, track(shares), make("span", { className: "small" }, who)), nsText(quantile(counts, 0.5)),
    nsText(quantile(counts, 0.99)), whole(failures)];
}

function fillOperations(stats) {
  const from = before(stats, SMOOTH_S), table = find("operations");
  const focused = table.contains(document.activeElement) ? document.activeElement.textContent : null;
  fillTable(table, [["Operation"], ["Parts/s", 1], ["Parts", 1], ["Where"], ["Median", 1], ["99 %", 1], ["Failures", 1]],
    stats.operations.map((op, i) => operationRow(stats, from, op, i)));
  [...table.tBodies[0].rows].forEach((row, i) => {
    const name = stats.operations[i].name;
    row.className = name === view.op ? "choose chosen" : "choose";
    row.addEventListener("click", () => choose(name));
    if (name === focused) row.querySelector("button").focus();
  });
}

function fillCaches(stats) {
  find("caches").replaceChildren(...Object.entries(stats.caches).map(([name, cache]) => {
    const looked = cache.hits + cache.misses, path = (field) => exact(`caches.${name}.${field}`);
    const words = [path("hits"), " found, ", path("misses"), " not, ", path("evictions"), " removed for room"];
    return meter(name === "disk" ? "files on disk" : name, looked ? cache.hits / looked : null, "lane-0", words);
  }));
}

const whys = { only: "no other may", best: "measured best", backlog: "best is busy", probe: "to learn", order: "first in order",
  split: "its share" };

function fillDecisions(stats) {
  const counts = {};
  for (const pair of pairs(stats, null))
    for (const [why, count] of Object.entries(pair.decisions)) counts[why] = (counts[why] ?? 0) + count;
  const all = Object.values(counts).reduce((a, b) => a + b, 0);
  find("decisions").replaceChildren(...Object.entries(counts).sort(([, a], [, b]) => b - a)
    .map(([why, count]) => meter(whys[why] ?? why, count / all, "lane-2", [`${whole(count)} parts`])));
}

function fillFallbacks() {
  const lines = view.fallbacks.split("\n").filter(Boolean).map((line) => JSON.parse(line)).reverse();
  find("no-fallbacks").hidden = lines.length > 0;
  find("fallbacks").hidden = !lines.length;
  fillTable(find("fallbacks"), [["When"], ["Operation"], ["Units", 1], ["Done by"], ["Tag", 1], ["Reason"]], lines.map((one) => [
    new Date(one.time_ns / 1e6).toLocaleTimeString("en-GB"), one.operation, whole(one.units),
    one.failed ? "nobody: the batch failed" : `${one.backend}: ${one.name}`, String(one.tag), one.reason]));
}

function fillChooser(stats) {
  const names = stats.operations.map((op) => op.name), select = find("op");
  if (!names.includes(view.op)) view.op = names[0] ?? null;
  if (select.options.length !== names.length)
    select.replaceChildren(...names.map((name) => make("option", { value: name }, name)));
  if (view.op) select.value = view.op;
}

function show() {
  const stats = view.stats;
  if (!stats) return;
  fillChooser(stats);
  fillTiles(stats);
  fillDevices(stats);
  fillOperations(stats);
  fillCaches(stats);
  fillDecisions(stats);
  fillFallbacks();
  drawAll();
}

function choose(name) {
  view.op = name;
  show();
}

// ---- asking ---------------------------------------------------------------------------------------------------------

async function ask(path) {
  const answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer;
}

function take(stats) {
  if (view.stats && view.stats.start_ns !== stats.start_ns) view.history = []; // another executor
  view.stats = stats;
  if (!view.history.length || stats.open_ns > view.history.at(-1).open_ns) view.history.push(stats);
  view.history = view.history.slice(-KEEP);
}

function tell() {
  const state = find("state"), stats = view.stats;
  const word = view.lost ? "lost" : view.held ? "held" : "live";
  state.className = `pill ${word}`;
  state.textContent = { lost: "the server does not answer; trying again", held: "held", live: "live" }[word];
  if (stats) find("facts").textContent = `svmx ${stats.version} at ${location.host}, open for ${agoText(seconds(stats))}`;
}

async function round() {
  if (!view.held) {
    try {
      const stats = await (await ask("stats.json")).json();
      if (view.answers % 2 === 0 || view.lost) view.fallbacks = await (await ask("fallbacks")).text();
      if (view.answers % 5 === 0 || view.lost) view.curves = (await (await ask("curves.json")).json()).points;
      view.answers++;
      view.lost = 0;
      take(stats);
      show();
    } catch {
      view.lost++;
    }
    tell();
  }
  setTimeout(round, view.lost > 3 ? 3 * EVERY_MS : EVERY_MS);
}

find("hold").addEventListener("click", () => {
  view.held = !view.held;
  find("hold").textContent = view.held ? "Go on" : "Hold";
  find("hold").setAttribute("aria-pressed", String(view.held));
  tell();
});
find("op").addEventListener("change", (event) => choose(event.target.value));
