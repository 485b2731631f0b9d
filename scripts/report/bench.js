// bench.js: the rows of bench-results.json: how far each ask is met, and all figures.
const rows = data.rows.map((row) => Object.fromEntries(data.columns.map((name, i) => [name, row[i]])));
const state = { suite: "", which: "", all: false };
const ofSuite = (row) => !state.suite || row.suite === state.suite;
const chosen = () => rows.filter((row) => ofSuite(row) && (!state.which || row.verdict === state.which));
const figure = (n) => (n === null ? "–" : Math.abs(n) < 1000 ? digits(n) : whole(Math.round(n)));

// A bar from 1 to what was measured over what was asked for. Missed ones are striped: colour alone says nothing.
function stripes(hue) {
  const tile = make("canvas", { width: 8, height: 8 }), ctx = tile.getContext("2d");
  ctx.strokeStyle = hue;
  ctx.lineWidth = 3;
  ctx.beginPath();
  ctx.moveTo(-2, 6); ctx.lineTo(6, -2);
  ctx.moveTo(2, 10); ctx.lineTo(10, 2);
  ctx.stroke();
  return ctx.createPattern(tile, "repeat");
}

// The value at the end of each bar; those beyond the axis end with an arrow.
const ends = {
  id: "ends",
  afterDatasetsDraw(chart, _, { asked }) {
    const { ctx } = chart;
    ctx.save();
    ctx.font = `12px ${Chart.defaults.font.family}`;
    ctx.fillStyle = colour("soft");
    chart.getDatasetMeta(0).data.forEach((bar, i) => {
      const { margin } = asked[i], text = `${Number(margin.toPrecision(3))}×${margin > MOST ? " →" : ""}`;
      ctx.fillText(text, Math.max(bar.x, chart.scales.x.getPixelForValue(1)) + 6, bar.y + 4);
    });
    ctx.restore();
  },
};
const MOST = 4, LEAST = 0.25, LINES = 40;

function drawChart() {
  clearCharts();
  const all = chosen().filter((row) => row.margin !== null).sort((a, b) => a.margin - b.margin);
  const asked = state.all ? all : all.slice(0, LINES);
  const place = find("chart");
  if (!asked.length) return place.replaceChildren(make("p", {}, "No row of these has a figure that was asked for."));
  const canvas = make("canvas", { role: "img" });
  canvas.setAttribute("aria-label", "What was measured over what was asked for; the table below has the figures");
  const frame = make("div", {}, canvas);
  frame.style.cssText = `position:relative;height:${50 + 24 * asked.length}px`;
  const words = `Show all ${all.length}, not only the ${LINES} closest to their bound`;
  const more = make("button", { type: "button" }, words);
  more.addEventListener("click", () => { state.all = true; drawChart(); });
  place.replaceChildren(frame, ...(asked.length < all.length ? [more] : []));
  const missed = stripes(colour("missed")), narrow = place.clientWidth < 600;
  const low = Math.max(LEAST, Math.min(0.9, asked[0].margin / 1.1));
  const grid = { color: (item) => colour(item.tick?.value === 1 ? "soft" : "grid"), borderColor: colour("line"),
    tickColor: colour("line") };
  const short = (text) => (text.length > (narrow ? 24 : 56) ? `${text.slice(0, narrow ? 23 : 55)}…` : text);
  charts.push(new Chart(canvas, {
    type: "bar",
    data: {
      labels: asked.map((row) => row.case + (row.peer_name ? `, ${row.peer_name}` : "")),
      datasets: [{ label: "measured over asked", base: 1, barThickness: 13, borderWidth: 1.5,
        data: asked.map((row) => Math.min(MOST, Math.max(low, row.margin))),
        borderColor: asked.map((row) => colour(row.verdict === "missed" ? "missed" : "met")),
        backgroundColor: asked.map((row) => (row.verdict === "missed" ? missed : colour("met"))) }],
    },
    options: {
      indexAxis: "y",
      layout: { padding: { right: 56 } },
      scales: {
        x: { type: "logarithmic", position: "top", min: low, max: MOST, grid, ticks: { autoSkip: false, maxRotation: 0,
          callback: (v) => ([0.25, 0.5, 1, 2, 3, 4].includes(v) ? `${v}×` : null) } },
        y: { grid: { display: false, borderColor: colour("line") }, ticks: {
          autoSkip: false, color: colour("ink"), font: { size: narrow ? 11 : 12 },
          callback(i) { return short(this.getLabelForValue(i)); } } },
      },
      plugins: { ends: { asked }, legend: { display: false }, tooltip: { callbacks: { label: (item) => {
        const row = asked[item.dataIndex];
        return `${row.verdict}: ours ${figure(row.ours)} ${row.unit}, ratio ${figure(row.ratio)}, asked ${row.ask}`;
      } } } },
    },
    plugins: [ends],
  }));
}

function showRows() {
  const shown = chosen();
  const note = (row) => (row.note ? make("div", { className: "small" }, row.note) : null);
  fillTable(find("rows"),
    [["Suite"], ["Case"], ["Ours", 1], ["Peer", 1], ["Peer is"], ["Unit"], ["Ratio", 1], ["Ask"], ["Verdict"]],
    shown.map((row) => [row.suite, make("span", {}, row.case, note(row)), figure(row.ours), figure(row.peer), row.peer_name ?? "",
      row.unit ?? "", figure(row.ratio), make("span", { className: "nowrap" }, row.ask ?? ""),
      make("span", { className: `verdict ${row.verdict}` }, row.verdict)]));
  find("rows-of").textContent = `${whole(shown.length)} of ${whole(rows.length)}`;
}

function show() {
  drawChart();
  showRows();
}

const count = (verdict) => rows.filter((row) => row.verdict === verdict).length;
find("machine").textContent = data.machine;
const tally = [["met", "asks met"], ["missed", "missed"], ["skipped", "skipped"], ["", "without an ask"]];
find("tally").replaceChildren(...tally.map(([verdict, text]) => make("div", {}, make("b", {}, String(count(verdict))), text)));
const option = (suite, text) => make("option", { value: suite }, text);
find("suite").replaceChildren(option("", "all"), ...data.suites.map((suite) => option(suite, suite)));
find("suite").addEventListener("change", (event) => { state.suite = event.target.value; state.all = false; show(); });
find("which").addEventListener("change", (event) => { state.which = event.target.value; show(); });
find("save").textContent = `Save CSV (${whole(rows.length)} rows)`;
find("save").addEventListener("click", () => save("bench.csv", csvText(data.columns, data.rows)));
setUpTheme(show);
