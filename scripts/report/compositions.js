// compositions.js: batches in the ways that programs have, a section for each device: bars and figures of a task's time.
const WAY_COLOURS = ["plain", "lane-4", "lane-0", "lane-1", "lane-2"]; // in the order of the ways
const gain = (ways) => (ways.naive && ways["svmx, in place"] ? ways.naive / ways["svmx, in place"] : null);

// Bars are beside the slowest way of their composition: times of different ones are far apart.
function drawBars(canvas, found) {
  const names = Object.keys(found), slowest = names.map((name) => Math.max(...Object.values(found[name])));
  charts.push(new Chart(canvas, {
    type: "bar",
    data: {
      labels: names,
      datasets: data.ways.filter((way) => names.some((name) => way in found[name])).map((way) => ({
        label: way, backgroundColor: colour(WAY_COLOURS[data.ways.indexOf(way) % WAY_COLOURS.length]),
        data: names.map((name, i) => (way in found[name] ? found[name][way] / slowest[i] : null)),
        us: names.map((name) => found[name][way] ?? null) })),
    },
    options: {
      indexAxis: "y",
      scales: { x: { min: 0, max: 1, grid: { color: colour("grid") }, ticks: { callback: (v) => `${Math.round(100 * v)} %` } },
        y: { grid: { display: false }, ticks: { color: colour("ink") } } },
      plugins: { tooltip: { callbacks: { label: (item) =>
        `${item.dataset.label}: ${timeText(item.dataset.us[item.dataIndex])} a task` } } },
    },
  }));
}

function sectionOf([device, found]) {
  const canvas = make("canvas", { role: "img" }), table = make("table", {}), frame = make("div", {}, canvas);
  canvas.setAttribute("aria-label", "The time of a task in each way; the table below has the figures");
  frame.style.cssText = `position:relative;height:${80 + 80 * Object.keys(found).length}px`;
  fillTable(table, [["Composition"], ...data.ways.map((way) => [way, 1]), ["Naive over in place", 1]],
    Object.entries(found).map(([name, ways]) => [name, ...data.ways.map((way) => timeText(ways[way])), timesText(gain(ways))]));
  return [make("section", {}, make("h2", {}, device),
    make("p", { className: "note" }, "Time of a task beside the slowest way of its composition; shorter is better."),
    frame, make("div", { className: "scroll" }, table)), () => drawBars(canvas, found)];
}

function show() {
  clearCharts();
  const sections = Object.entries(data.devices).map(sectionOf);
  find("devices").replaceChildren(...sections.map(([section]) => section));
  sections.forEach(([, drawn]) => drawn());
}
setUpTheme(show);
