// SPDX-License-Identifier: Apache-2.0
// Draws the page from the figures in #data, the same object as results.json. No requests.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const page = document.getElementById("page");
  const COLOURS = { direct: "#64748b", file: "#d98a1f", stream: "#2b83ba", keep: "#0b9a8d", fastfile: "#c2477f", pipe: "#8b5cd6" };

  // h("p", {class: "soft"}, "text", child): an element. Text is never read as HTML.
  function h(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
    for (const child of children.flat()) if (child !== null && child !== undefined) element.append(child);
    return element;
  }

  const three = (x) => (x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2));
  const number = (x) => x.toLocaleString("en-US");
  const seconds = (x) => (x === null ? "–" : `${three(x)} s`);
  const hours = (x) => (x === null ? "–" : `${Math.floor(Math.round(x / 60) / 60)} h ${String(Math.round(x / 60) % 60).padStart(2, "0")} min`);
  const percent = (x) => (x === null ? "–" : `${(x * 100).toFixed(1)} %`);
  const rate = (x) => number(Math.round(x));
  const bytes = (x) => (x >= 1e10 ? `${(x / 1e9).toFixed(1)} GB` : `${number(Math.round(x / 1e6))} MB`);
  const dollars = (x) => (x === null ? "–" : `$${x < 0.1 ? x.toPrecision(3) : x.toFixed(2)}`);
  const ok = (row) => row.status === "ok";
  const rowsOf = (table) => data.rows.filter((row) => row.table === table.name);
  const optionOf = (table, name) => table.options[table.options.indexOf(name) + 1];

  // A mode that ran over several media is told apart by them.
  const label = (row, rows) => row.mode + (row.partial_reads ? " in parts" : "") +
    (rows.some((other) => other.mode === row.mode && other.medium !== row.medium) ? `, ${row.medium}` : "");

  function chosenRow(table) {
    const advice = table.recommendation;
    return rowsOf(table).find((row) => ok(row) && row.mode === advice.mode && row.format === advice.format &&
      row.partial_reads === advice.partial_reads);
  }

  // "Time: …" with its first word bold.
  function sentence(text) {
    const colon = text.indexOf(":");
    if (colon < 0 || colon > 15) return h("li", {}, text);
    return h("li", {}, h("b", {}, text.slice(0, colon)), text.slice(colon));
  }

  function tile(label, value) {
    return h("div", { class: "tile" }, h("span", { class: "label" }, label), h("b", {}, value));
  }

  function hero() {
    const table = data.tables[data.tables.length - 1];
    const advice = table.recommendation;
    const row = chosenRow(table);
    const several = table.sets.length > 1;
    const left = h("div", {}, h("div", { class: "label" }, "Recommended for this job"));
    if (!row) {
      left.append(h("h1", {}, "No choice"), h("p", { class: "soft" }, "No mode ran to its end."));
    } else {
      const medium = row.medium === "none" ? "" : `, over ${row.medium}`;
      left.append(
        h("h1", {}, advice.mode + (advice.partial_reads ? " in parts" : "")),
        h("p", { class: "soft" }, `${several ? `on ${row.format}` : row.format}${medium}. `,
          advice.runner_up ? `Runner-up: ${advice.runner_up}.` : ""),
        h("div", { class: "tiles" },
          tile(`Total, ${row.epochs} epochs`, seconds(row.total_seconds)),
          tile("Samples per second", rate(row.samples_per_second)),
          tile("Launch", seconds(row.launch_seconds)),
          tile(row.cost_usd === null ? "Cost: no instance named" : `Cost on ${data.instance.type}`,
            dollars(row.cost_usd))));
    }
    left.append(h("div", { class: "badges" },
      data.digests_agree
        ? h("span", { class: "badge" }, "✓ all modes delivered the same bytes in the same order")
        : h("span", { class: "badge bad" }, "✗ the modes do not agree")));
    const right = h("div", {}, h("div", { class: "label" }, table.name ? `Why: ${table.name}` : "Why"),
      h("ul", { class: "because" }, advice.because.map(sentence)),
      data.disagreements.map((text) => h("p", { class: "badge bad" }, text)));
    return h("section", { class: "card hero" }, left, right);
  }

  // ---- charts ------------------------------------------------------------------------------
  const pending = []; // drawn once their canvas is in the page, and again when the colours change
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // Writes the value beside each bar (or stack), and the range of the repeats as a whisker.
  const labels = {
    id: "labels",
    afterDatasetsDraw(chart, _, options) {
      const context = chart.ctx;
      const scale = chart.scales.x;
      context.save();
      context.font = "12px " + getComputedStyle(document.body).fontFamily;
      context.textBaseline = "middle";
      const stacked = options.totals;
      chart.data.datasets.forEach((set, index) => {
        if (stacked && index < chart.data.datasets.length - 1) return;
        chart.getDatasetMeta(index).data.forEach((bar, at) => {
          const value = stacked ? stacked[at] : set.data[at];
          if (value === null || value === undefined) return;
          let x = scale.getPixelForValue(value);
          const range = options.ranges && options.ranges[at];
          if (range && range[1] > range[0]) {
            const [low, high] = range.map((v) => scale.getPixelForValue(v));
            context.strokeStyle = css("--ink");
            context.lineWidth = 1.25;
            context.beginPath();
            context.moveTo(low, bar.y); context.lineTo(high, bar.y);
            for (const end of [low, high]) { context.moveTo(end, bar.y - 4); context.lineTo(end, bar.y + 4); }
            context.stroke();
            x = Math.max(x, high);
          }
          context.fillStyle = css("--ink");
          context.fillText(options.format(value), x + 7, bar.y);
        });
      });
      context.restore();
    },
  };

  // `datasets` is a function, since colours are looked up when it is drawn.
  function chart(title, note, rows, datasets, options) {
    const perRow = options.grouped ? 46 : 30;
    const frame = h("div", { class: "frame", style: `height:${rows.length * perRow + 62}px` });
    const canvas = h("canvas", { role: "img", "aria-label": title });
    frame.append(canvas);
    pending.push({ canvas, draw: () => new Chart(canvas, {
      type: "bar",
      data: { labels: rows.map((row) => label(row, rows)), datasets: datasets() },
      plugins: [labels],
      options: {
        indexAxis: "y", animation: false, responsive: true, maintainAspectRatio: false,
        layout: { padding: { right: 66 } },
        plugins: {
          legend: { display: false, position: "bottom", align: "start",
            labels: { color: css("--soft"), boxWidth: 10, boxHeight: 10 } },
          tooltip: { callbacks: { label: (item) => `${item.dataset.label}: ${options.format(item.raw)}` } },
          labels: { format: options.format, totals: options.totals, ranges: options.ranges },
        },
        scales: {
          x: { stacked: options.stacked, beginAtZero: true, max: options.max, border: { display: false },
            grid: { color: css("--grid") }, ticks: { color: css("--soft"), maxTicksLimit: 6,
              callback: (v) => number(v), includeBounds: false } },
          y: { stacked: options.stacked, grid: { display: false }, border: { color: css("--line") },
            ticks: { color: css("--ink"), font: { size: 13 } } },
        },
      },
    }) });
    return h("div", { class: "chart" }, h("h3", {}, title), h("p", { class: "soft small" }, note), frame);
  }

  const fade = (colour, share) => colour + Math.round(share * 255).toString(16).padStart(2, "0");
  const colours = (rows, share = 1) => rows.map((row) => fade(COLOURS[row.mode] || "#888888", share));
  const bars = { borderRadius: 3, barPercentage: 0.82, categoryPercentage: 0.86 };

  function charts(rows, all) {
    const most = (of) => Math.max(...all.map(of)) * 1.02;
    const spreadTop = (row) => Math.max(...row.totals);
    const laterSum = (row) => (row.later_epoch_seconds === null ? 0 : row.later_epoch_seconds * (row.epochs - 1));
    const first = (row) => Math.max(0, row.total_seconds - row.launch_seconds - laterSum(row));
    const one = (label, of) => () => [{ label, data: rows.map(of), backgroundColor: colours(rows), ...bars }];
    return h("div", { class: "charts" },
      chart("Launch", "From the start of the process to the first batch; less is better", rows,
        one("launch", (row) => row.launch_seconds), { format: seconds, max: most((row) => row.launch_seconds) }),
      chart("Samples per second", "Over all epochs; more is better", rows,
        one("samples/s", (row) => row.samples_per_second), { format: rate, max: most((row) => row.samples_per_second) }),
      chart("Epochs", "Light: the first; full: the mean of the later ones; less is better", rows,
        () => [
          { label: "first epoch", data: rows.map((row) => row.first_epoch_seconds), backgroundColor: colours(rows, 0.45), ...bars },
          { label: "later epochs", data: rows.map((row) => row.later_epoch_seconds), backgroundColor: colours(rows), ...bars },
        ], { format: seconds, grouped: true,
          max: most((row) => Math.max(row.first_epoch_seconds, row.later_epoch_seconds || 0)) }),
      chart("Total", "From light to full: launch, first epoch, later epochs; the whisker spans the repeats", rows,
        () => [
          { label: "launch", data: rows.map((row) => row.launch_seconds), backgroundColor: colours(rows, 0.25), ...bars },
          { label: "first epoch, after its first batch", data: rows.map(first), backgroundColor: colours(rows, 0.55), ...bars },
          { label: "later epochs", data: rows.map(laterSum), backgroundColor: colours(rows), ...bars },
        ], { format: seconds, stacked: true, max: most(spreadTop),
          totals: rows.map((row) => row.total_seconds),
          ranges: rows.map((row) => [Math.min(...row.totals), Math.max(...row.totals)]) }));
  }

  // ---- tables ------------------------------------------------------------------------------
  const COLUMNS = [
    ["launch", (r) => r.launch_seconds, seconds, -1],
    ["samples/s", (r) => r.samples_per_second, rate, 1],
    ["first epoch", (r) => r.first_epoch_seconds, seconds, -1],
    ["later epochs", (r) => r.later_epoch_seconds, seconds, -1],
    ["total", (r) => r.total_seconds, seconds, -1],
    ["total of the real job", (r) => r.scaled_total_seconds, hours, -1],
    ["as published", (r) => r.published_seconds, hours, 0],
    ["spread", (r) => r.spread, percent, 0],
    ["accelerator busy", (r) => r.accelerator_busy, percent, 1],
    ["cost", (r) => r.cost_usd, dollars, -1],
    ["requests", (r) => r.requests, rate, 0],
    ["read from origin", (r) => r.bytes_origin, bytes, 0],
    ["cold", (r) => r.cold, String, 0],
    ["facts", (r) => r.manageability.count, String, -1],
  ];

  function figures(rows, chosen) {
    const done = rows.filter(ok);
    const shown = COLUMNS.filter(([, of]) => done.some((row) => of(row) !== null));
    const best = shown.map(([, of, , sign]) => {
      const values = done.map(of).filter((value) => value !== null);
      return sign === 0 || values.length < 2 ? null : sign > 0 ? Math.max(...values) : Math.min(...values);
    });
    const head = h("tr", {}, h("th", {}, "mode"), h("th", { class: "left" }, "medium"),
      shown.map(([name]) => h("th", {}, name)));
    const body = rows.map((row) => {
      const dot = h("span", { class: "dot", style: `background:${COLOURS[row.mode]}` });
      const cells = ok(row)
        ? shown.map(([, of, print], i) => h("td", { class: of(row) !== null && of(row) === best[i] ? "best" : "" },
            print === String ? String(of(row)) : print(of(row))))
        : [h("td", { class: "why", colspan: shown.length },
            row.status === "failed" ? h("b", {}, "failed: ") : "not run: ", row.why)];
      return h("tr", { class: row === chosen ? "chosen" : "" }, h("td", {}, dot, row.mode + (row.partial_reads ? " in parts" : "")),
        h("td", { class: "left" }, (row.medium === "none" ? "as it is" : row.medium) + (row.keep_medium === "none" ? "" : `, cache ${row.keep_medium}`) + (row.fitted.some((input) => input.endsWith(` of ${row.medium}`)) ? " (fitted)" : "")), cells);
    });
    return h("div", { class: "scroll" }, h("table", {}, h("thead", {}, head), h("tbody", {}, body)));
  }

  function section(table) {
    const rows = rowsOf(table);
    const all = rows.filter(ok);
    const chosen = chosenRow(table);
    const parts = table.sets.map((set) => {
      const own = rows.filter((row) => row.uri === set.uri);
      const done = own.filter(ok);
      return h("section", { class: "card set" },
        h("header", {}, h("h3", {}, set.format), h("code", { class: "soft" }, set.uri),
          h("span", { class: "soft small" }, `${number(set.samples)} pictures, ${bytes(set.bytes)}`)),
        done.length ? charts(done, all) : null, figures(own, chosen));
    });
    const advice = table.recommendation;
    return h("section", {}, h("h2", {}, table.name || "Measured"),
      h("p", { class: "soft" },
        `${table.repeats} repeats of ${optionOf(table, "--epochs")} epochs, interleaved. `,
        advice.mode ? `Recommended here: ${advice.mode}${table.sets.length > 1 ? ` on ${advice.format}` : ""}.` : ""),
      parts);
  }

  function manageability() {
    const table = data.tables[data.tables.length - 1];
    const rows = rowsOf(table);
    const several = table.sets.length > 1;
    const list = (items) => (items.length ? `${items.length}: ${items.join("; ")}` : "0");
    const columns = [
      ["steps before training", (m) => list(m.steps)],
      ["to create and delete", (m) => list(m.resources)],
      ["conversion needed", (m) => (m.conversion ? "yes" : "no")],
      ["one picture replaceable", (m) => (m.replace_one ? "yes" : "no")],
      ["standing cost beside the bucket", (m) => m.standing || "none"],
      ["disk on the instance", (m) => (m.disk ? "for the set" : "none")],
      ["count", (m) => String(m.count)],
    ];
    const body = rows.map((row) => h("tr", {},
      h("td", {}, h("span", { class: "dot", style: `background:${COLOURS[row.mode]}` }),
        several ? `${row.mode} on ${row.format}` : row.mode),
      columns.map(([, of]) => h("td", { class: "left" }, of(row.manageability)))));
    return h("section", {}, h("h2", {}, "What each mode asks of people"),
      h("p", { class: "soft" }, "Facts that can be counted: each step, each resource, and one each for a conversion, for pictures that cannot be replaced alone, for a standing cost, for disk."),
      h("div", { class: "card scroll facts" }, h("table", {},
        h("thead", {}, h("tr", {}, h("th", {}, "mode"), columns.map(([name]) => h("th", { class: "left" }, name)))),
        h("tbody", {}, body))));
  }

  function method() {
    const item = (title, text) => h("div", {}, h("dt", {}, title), h("dd", {}, text));
    const machine = data.machine;
    const price = data.instance;
    return h("section", {}, h("h2", {}, "Method"), h("dl", { class: "card method" },
      item("Runs", "Each mode runs in a process of its own, and the repeats are interleaved, so that a slow drift of the machine falls on all alike. Figures are medians; spread is (largest − smallest) / median of the totals. Differences within the spread are no difference."),
      item("Machine", `${machine.cpu}, ${machine.processors} processors, ${(machine.memory_bytes / 2 ** 30).toFixed(0)} GiB, ${machine.system}. Servers on the same machine share its processors.`),
      item("Cold", "Before each run the files that are read were written back and dropped from the page cache. verified: mincore saw no page of them left in memory; warm: some stayed; unverified: they could not be looked at, as on a server elsewhere. Caches and copies are made anew for each run."),
      item("Same data", "Every run hashes the bytes handed to the decoder. The set digest is one for all modes and forms, the order digest one for all modes of a set; if not, the comparison fails."),
      item("Media", "as it is: the storage of this machine, at its own speed. A named medium slows each read to the latency and the rates that data/media.yaml gives for it, with sources."),
      item("Dollars", price
        ? `${price.type} at $${price.usd_per_hour} an hour (us-east-1, ${price.dated}${price.verified ? "" : ", from a third party"}), plus reads, plus storage for the time of the run. The time is this machine's: the instance may be faster or slower.`
        : "Not counted, since no instance was named (--instance)."),
      item("Choice", "The least total time wins; ties are settled by cost, then by the smaller count of facts."),
      item("Made by", `headrace ${data.version}, ${data.when}`)));
  }

  page.append(
    h("div", { class: "masthead" }, h("div", { class: "wordmark" }, "Head", h("span", {}, "race"), " compare"),
      h("div", { class: "soft small" }, `${data.when} · headrace ${data.version}`)),
    hero(), ...data.tables.map(section), manageability(), method(),
    h("footer", { class: "soft small" },
      "The same figures are in results.json beside this page. Charts by Chart.js (MIT)."));

  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  let drawn = [];
  function draw() {
    drawn.forEach((old) => old.destroy());
    drawn = pending.map(({ draw: make }) => make());
  }
  draw();
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
})();
