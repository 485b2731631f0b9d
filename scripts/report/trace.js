// trace.js: events of `svmx trace` on a line of time: a row of canvas for each lane, the colours are those of operations.
const LANE_PX = 26, AXIS_PX = 24, HUES = 6, ZOOM = 1.6;
const lanes = data.lanes;
const ops = [...new Set(lanes.flatMap((lane) => lane.events.map((event) => event[2])))];
const first = Math.min(...lanes.map((lane) => lane.events[0][0]));
const last = Math.max(...lanes.map((lane) => lane.events.reduce((end, [at, took]) => Math.max(end, at + took), 0)));
const view = { from: first, to: last }; // µs
const hueOf = (op) => colour(`lane-${ops.indexOf(op) % HUES}`);

// ---- drawing --------------------------------------------------------------------------------------------------------

// A canvas as wide as its place, sharp on every screen.
function prepare(canvas, height) {
  const width = canvas.parentElement.clientWidth, ratio = devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.height = `${height}px`;
  const ctx = canvas.getContext("2d");
  ctx.scale(ratio, ratio);
  return [ctx, width, (at) => ((at - view.from) / (view.to - view.from)) * width];
}

// Round steps of time, a tick at most every 110 px.
function drawAxis(canvas) {
  const [ctx, width, x] = prepare(canvas, AXIS_PX), span = view.to - view.from;
  const rough = (span * 110) / Math.max(width, 110), power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  ctx.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  for (let at = Math.ceil((view.from - first) / step) * step; at <= view.to - first; at += step) {
    ctx.fillStyle = colour("line");
    ctx.fillRect(x(at + first), AXIS_PX - 6, 1, 6);
    ctx.fillStyle = colour("soft");
    ctx.fillText(at === 0 ? "0" : timeText(at, plainNumber), x(at + first) + 3, AXIS_PX - 8);
  }
}

// What is shorter than a pixel is still seen; names stand where there is room.
function drawLane(lane, canvas) {
  const [ctx, width, x] = prepare(canvas, LANE_PX);
  ctx.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  for (const [at, took, op] of lane.events) {
    if (at + took <= view.from || at >= view.to) continue;
    const left = Math.max(0, x(at)), wide = Math.max(1, Math.min(width, x(at + took)) - left - 1);
    ctx.fillStyle = hueOf(op);
    ctx.fillRect(left, 3, wide, LANE_PX - 6);
    if (ctx.measureText(op).width + 8 < wide) {
      ctx.fillStyle = colour("card");
      ctx.fillText(op, left + 4, LANE_PX / 2 + 4);
    }
  }
}

function draw() {
  drawAxis(find("axis"));
  lanes.forEach((lane, i) => drawLane(lane, find(`lane-${i}`)));
  find("span").textContent = `${timeText(view.to - view.from)} of ${timeText(last - first)}`;
  find("ops").replaceChildren(...ops.map((op) => {
    const swatch = make("span", { className: "swatch" });
    swatch.style.background = hueOf(op);
    return make("span", {}, swatch, op);
  }));
}

// ---- moving and pointing --------------------------------------------------------------------------------------------

const least = Math.max((last - first) / 1e6, 0.001);

// The part that is shown: never empty, never outside.
function show(from, to) {
  const span = Math.min(last - first, Math.max(least, to - from)), start = Math.min(Math.max(from, first), last - span);
  Object.assign(view, { from: start, to: start + span });
  draw();
}
const zoom = (factor, at) => show(at - (at - view.from) * factor, at + (view.to - at) * factor);
const move = (part) => show(view.from + part * (view.to - view.from), view.to + part * (view.to - view.from));

const timeAt = (event) => {
  const box = event.currentTarget.getBoundingClientRect();
  return view.from + ((event.clientX - box.left) / box.width) * (view.to - view.from);
};

// The event under the pointer; half a pixel beside it counts.
function eventAt(lane, at, slack) {
  return lane.events.find(([start, took]) => at >= start - slack && at <= start + took + slack);
}

function point(lane, event) {
  const found = eventAt(lane, timeAt(event), (view.to - view.from) / event.currentTarget.clientWidth / 2);
  if (!found) return;
  const [at, took, op, more] = found;
  const rest = Object.entries(more).map(([name, value]) => `${name} ${value}`).join(", ");
  find("event").textContent = `${op}: ${lane.name} on ${lane.device}, from ${timeText(at - first)} for ${timeText(took)}`
    + (rest ? `; ${rest}` : "");
}

// ---- the page -------------------------------------------------------------------------------------------------------

function rowOf(lane, i) {
  const canvas = make("canvas", { id: `lane-${i}` });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${lane.device}, ${lane.name}: the table below has the figures`);
  canvas.addEventListener("mousemove", (event) => point(lane, event));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1 / ZOOM : ZOOM, timeAt(event));
  }, { passive: false });
  return make("div", { className: "lane" }, make("span", { className: "lane-name" }, lane.name),
    make("div", { className: "lane-time" }, canvas));
}

function build() {
  const rows = [make("div", { className: "lane" }, make("span", { className: "lane-name" }),
    make("div", { className: "lane-time" }, make("canvas", { id: "axis" })))];
  lanes.forEach((lane, i) => {
    if (i === 0 || lanes[i - 1].device !== lane.device) rows.push(make("h3", {}, lane.device));
    rows.push(rowOf(lane, i));
  });
  find("lanes").replaceChildren(...rows);
  fillTable(find("table"), [["Device"], ["Lane"], ["Events", 1], ["Time", 1], ["Share", 1]], lanes.map((lane) => {
    const busy = lane.events.reduce((sum, event) => sum + event[1], 0);
    return [lane.device, lane.name, whole(lane.events.length), timeText(busy),
      `${digits((100 * busy) / (last - first || 1))} %`];
  }));
}

const middle = () => (view.from + view.to) / 2;
for (const [id, act] of [["in", () => zoom(1 / ZOOM, middle())], ["out", () => zoom(ZOOM, middle())],
  ["left", () => move(-0.3)], ["right", () => move(0.3)], ["all", () => show(first, last)]])
  find(id).addEventListener("click", act);
addEventListener("resize", draw);
build();
setUpTheme(draw);
