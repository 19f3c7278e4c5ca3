"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const tip = document.getElementById("tip");
  const state = { certificate: 0, step: 0 };
  const make = (tag, attributes = {}, text) => {
    const node = tag.startsWith("svg:")
      ? document.createElementNS("http://www.w3.org/2000/svg", tag.slice(4)) : document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).split(",").map(Number);
  const mix = (a, b, t) => a.map((x, i) => Math.round(x + (b[i] - x) * t));
  const percent = x => x === 0 ? "0 %" : x < 1e-6 ? (100 * x).toExponential(2) + " %" : Number((100 * x).toPrecision(4)) + " %";
  // of numbers that come rounded to the safe side; the thousandth covers what doubles add to them
  const bound = (x, up) => (up ? Math.ceil(1e8 * x - 1e-3) / 1e6 : Math.floor(1e8 * x + 1e-3) / 1e6) + " %";
  const number = x => Number(x.toPrecision(6)).toString().replace("-", "−");

  // A matrix as it comes: rows of decimals, or levels 1..255 between its ends (0: no entry).
  const reader = m => {
    if (m.values) return (r, c) => m.values[r][c];
    const bytes = Uint8Array.from(atob(m.levels), x => x.charCodeAt(0));
    return (r, c) => {
      const level = bytes[r * m.columns + c];
      return level === 0 ? null : m.low + (level - 1) / 254 * (m.high - m.low);
    };
  };

  const redraws = [];
  // One heat map: pixels on a canvas, a cell under the pointer or the arrow keys, words for both.
  const heatmap = (canvas, spec) => {
    let cursor = null;
    const cells = document.createElement("canvas");
    const draw = () => {
      const { rows, columns, shade } = spec();
      const width = 480, height = Math.max(60, Math.round(width * Math.min(1, Math.max(rows / columns, columns / rows > 4 ? 0.28 : 0.1))));
      canvas.width = width * 2; canvas.height = height * 2;
      cells.width = columns; cells.height = rows;
      const pixels = cells.getContext("2d").createImageData(columns, rows);
      for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) {
        const rgb = shade(r, c), at = 4 * (r * columns + c);
        if (rgb) { pixels.data.set(rgb, at); pixels.data[at + 3] = 255; }
      }
      cells.getContext("2d").putImageData(pixels, 0, 0);
      const context = canvas.getContext("2d");
      context.imageSmoothingEnabled = false;
      context.clearRect(0, 0, canvas.width, canvas.height);
      context.drawImage(cells, 0, 0, canvas.width, canvas.height);
      if (cursor) {
        const w = canvas.width / columns, h = canvas.height / rows;
        context.lineWidth = 3;
        context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--ink");
        context.strokeRect(cursor[1] * w, cursor[0] * h, Math.max(w, 4), Math.max(h, 4));
      }
    };
    const point = (r, c, event) => {
      const { rows, columns, words, note } = spec();
      cursor = [Math.max(0, Math.min(rows - 1, r)), Math.max(0, Math.min(columns - 1, c))];
      draw();
      const text = words(cursor[0], cursor[1]);
      note.textContent = text;
      if (event) {
        tip.textContent = text; tip.hidden = false;
        tip.style.left = Math.min(event.clientX + 14, innerWidth - 396) + "px";
        tip.style.top = Math.min(event.clientY + 14, innerHeight - 110) + "px";
      }
    };
    canvas.addEventListener("mousemove", event => {
      const box = canvas.getBoundingClientRect(), { rows, columns } = spec();
      point(Math.floor((event.clientY - box.top) / box.height * rows), Math.floor((event.clientX - box.left) / box.width * columns), event);
    });
    const leave = () => { tip.hidden = true; cursor = null; draw(); };
    canvas.addEventListener("mouseleave", leave);
    canvas.addEventListener("blur", leave);
    canvas.addEventListener("keydown", event => {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!step) return;
      event.preventDefault();
      const [r, c] = cursor || [-step[0], -step[1]];
      point(r + step[0], c + step[1]);
    });
    redraws.push(draw);
    draw();
    return draw;
  };

  const exactWords = (m, r, c) => {
    if (!m.exact) return "the matrix is too large to hold exact entries here";
    const text = m.exact[r][c], negative = text.startsWith("-");
    const n = BigInt("0x" + (negative ? text.slice(1) : text));
    const [whole, square] = m.divisor;
    const below = (whole === 1 ? "" : ` / ${whole}`) + (square === 1 ? "" : ` / √${square}`);
    return `exactly ${negative ? "−" : ""}${n} · 2^${String(m.exponent).replace("-", "−")}${below}`;
  };

  const circuits = () => data.models.forEach((model, index) => {
    const host = document.querySelector(`[data-model="${index}"] .circuits`);
    for (const m of model.circuits) {
      const figure = make("figure"), caption = make("figcaption");
      caption.append(make("b", {}, m.name), make("span", {}, m.meaning));
      const canvas = make("canvas", { class: "heat", tabindex: 0, role: "img", "data-circuit": m.name, "aria-label": `${m.name}: ${m.down} down, ${m.across} across` });
      const axes = make("p", { class: "small" }, `down: ${m.down} · across: ${m.across} · from ${number(m.low)} to ${number(m.high)}`);
      const note = make("p", { class: "readout", "aria-live": "polite" });
      figure.append(caption, canvas, axes, note);
      host.append(figure);
      const value = reader(m), limit = Math.max(Math.abs(m.low), Math.abs(m.high)) || 1;
      const name = (labels, i) => labels ? labels[i] : i;
      heatmap(canvas, () => {
        const zero = colour("--heat0"), minus = colour("--heat-"), plus = colour("--heat1");
        return {
          rows: m.rows, columns: m.columns, note,
          shade: (r, c) => { const x = value(r, c); return mix(zero, x < 0 ? minus : plus, Math.min(1, Math.abs(x) / limit)); },
          words: (r, c) => `${m.name}, ${m.down} ${name(m.labels_down, r)}, ${m.across} ${name(m.labels_across, c)}: ${number(value(r, c))}\n${exactWords(m, r, c)}`,
        };
      });
    }
    singular(document.querySelector(`[data-model="${index}"] .singular`), model.profile.singular);
    slope(document.querySelector(`[data-model="${index}"] .slope`), model.profile);
  });

  const canvasOf = (host, width, height, label) => {
    const svg = make("svg:svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
    host.replaceChildren(svg);
    const line = (x1, y1, x2, y2, kind = "axis") => svg.append(make("svg:line", { x1, y1, x2, y2, class: kind }));
    const text = (x, y, words, attributes = {}) => svg.append(make("svg:text", { x, y, ...attributes }, words));
    return { svg, line, text };
  };

  const singular = (host, values) => {
    const shown = values.slice(0, 40).map(x => Math.max(x, values[0] * 1e-9));
    const { svg, line, text } = canvasOf(host, 480, 220, "singular values, logarithmic");
    const top = Math.ceil(Math.log10(shown[0])), low = Math.max(Math.floor(Math.log10(shown[shown.length - 1])), top - 6);
    const y = v => 190 - 175 * (Math.max(Math.log10(v), low) - low) / Math.max(top - low, 1);
    for (let p = low; p <= top; p++) { line(44, y(10 ** p), 476, y(10 ** p)); text(38, y(10 ** p) + 4, p < -3 || p > 5 ? `1e${p}` : String(10 ** p), { "text-anchor": "end" }); }
    const w = 432 / shown.length;
    shown.forEach((v, i) => {
      const bar = make("svg:rect", { x: 44 + i * w + 0.12 * w, y: y(v), width: w * 0.76, height: 190 - y(v), fill: i ? "var(--bar)" : "var(--accent)" });
      bar.append(make("svg:title", {}, `σ${i + 1} = ${number(values[i])}`));
      svg.append(bar);
    });
    text(44, 210, `σ1 = ${number(values[0])}` + (values.length > 1 ? `, σ2 = ${number(values[1])}, ratio ${number(values[0] / values[1])}` : ""));
  };

  const slope = (host, p) => {
    const { svg, line, text } = canvasOf(host, 480, 220, "mean attention score by key token");
    const lows = p.mean.map((x, i) => x + p.spread[i][0]), highs = p.mean.map((x, i) => x + p.spread[i][1]);
    const low = Math.min(...lows), high = Math.max(...highs), n = p.mean.length;
    const x = i => 44 + 432 * i / Math.max(n - 1, 1), y = v => 190 - 175 * (v - low) / (high - low || 1);
    for (const v of [low, (low + high) / 2, high]) { line(44, y(v), 476, y(v)); text(38, y(v) + 4, Number(v.toPrecision(3)), { "text-anchor": "end" }); }
    const band = lows.map((v, i) => `${x(i)},${y(v)}`).concat(highs.map((v, i) => `${x(i)},${y(v)}`).reverse()).join(" ");
    svg.append(make("svg:polygon", { points: band, fill: "var(--bar)", opacity: 0.8 }));
    svg.append(make("svg:polyline", { points: p.mean.map((v, i) => `${x(i)},${y(v)}`).join(" "), fill: "none", stroke: "var(--accent)", "stroke-width": 2 }));
    line(x(0), y(p.start), x(n - 1), y(p.start + p.slope * (n - 1)), "model");
    text(44, 210, `slope ${number(p.slope)} per token, over √d_head`);
  };

  const lossMap = () => {
    const canvas = document.getElementById("loss-map"), note = document.getElementById("loss-note");
    const floor = 1e-6, depth = v => v <= 0 ? 0 : Math.max(0.06, 1 - Math.log10(Math.max(v, floor)) / Math.log10(floor));
    const draw = heatmap(canvas, () => {
      const cert = data.certificates[state.certificate], m = cert.losses;
      const low = colour("--seq0"), high = colour("--seq1");
      if (!m) return { rows: 1, columns: 1, note, shade: () => low, words: () => "a mean loss: no account by class" };
      const value = reader(m), mass = reader(cert.mass), wrong = reader(cert.wrong);
      return {
        rows: m.rows, columns: m.columns, note,
        shade: (r, c) => { const v = value(r, c); return v === null ? null : mix(low, high, depth(v)); },
        words: (r, c) => {
          const v = value(r, c), where = `query ${cert.queries[r]}, maximum ${cert.tokens[c]}`;
          if (v === null) return `${where}: no such class`;
          const bounds = v === wrong(r, c) ? `exactly ${bound(1 - v)} ${cert.words[0]}` : `at least ${bound(1 - v)}, at most ${bound(1 - wrong(r, c), true)} ${cert.words[0]}`;
          return `${where}: ${m.values ? "" : "about "}${percent(v)} of the class lost, ${percent(mass(r, c))} of all inputs; ${bounds} (${cert.checked ? "checked" : "counted again here, not checked"})`;
        },
      };
    });
    const scale = () => {
      const low = colour("--seq0"), high = colour("--seq1"), stops = [0, 0.25, 0.5, 0.75, 1].map(t => `rgb(${mix(low, high, t)})`);
      document.getElementById("loss-scale").innerHTML = `<i style="background:linear-gradient(to right,${stops.join(",")})"></i><span><b>nothing</b><b>0.01 %</b><b>1 %</b><b>all</b></span>`;
    };
    redraws.push(scale); scale();
    canvas.setAttribute("aria-label", "loss by query (down) and maximum (across)");
    return draw;
  };

  const frontier = () => {
    const host = document.getElementById("frontier-plot"), note = document.getElementById("frontier-note");
    // as wide as the page, so that text keeps its size; on paper as on a wide screen
    const width = matchMedia("print").matches ? 1000 : Math.max(340, Math.min(1000, host.clientWidth || 1000));
    const left = width < 600 ? 62 : 90, right = width - 30;
    const { svg, line, text } = canvasOf(host, width, 330, "operations against the share not counted as right");
    const certs = data.certificates.filter(c => c.lost !== null);
    if (!certs.length) { text(width / 2, 140, "a mean loss has no share of inputs to show here", { "text-anchor": "middle" }); return; }
    const models = certs.filter(c => c.model_wrong > 0), wrongs = models.map(c => c.model_wrong);
    const least = Math.min(...certs.map(c => c.lost).filter(x => x > 0), ...wrongs, 0.5);
    const yLow = Math.floor(Math.log10(least) - 0.2), xs = certs.map(c => Math.log10(Math.max(c.operations, 1)));
    const xLow = Math.floor(Math.min(...xs) - 0.1), xHigh = Math.ceil(Math.max(...xs) + 0.1);
    const x = v => left + (right - left) * (Math.log10(Math.max(v, 1)) - xLow) / (xHigh - xLow), y = v => v <= 0 ? 290 : 20 + 255 * Math.log10(v) / yLow;
    for (let p = 0; p >= yLow; p--) { line(left, y(10 ** p), right, y(10 ** p)); text(left - 8, y(10 ** p) + 4, percent(10 ** p), { "text-anchor": "end" }); }
    const labels = (right - left) / (xHigh - xLow) > 130 ? [1, 2, 5] : [1];
    for (let p = xLow; p <= xHigh; p++) for (const k of labels) {
      const v = k * 10 ** p; if (x(v) > right + 1) continue;
      line(x(v), 275, x(v), 281); text(x(v), 298, `${k}e${p}`, { "text-anchor": "middle" });
    }
    text((left + right) / 2, 322, "integer operations of the checker", { "text-anchor": "middle" });
    text(12, 148, new Set(certs.map(c => c.words[0])).size > 1 ? "not counted" : `not counted as ${certs[0].words[0]}`, { transform: "rotate(-90 12 148)", "text-anchor": "middle" });
    if (wrongs.length) { const v = wrongs[0]; line(left, y(v), right, y(v), "model"); text(left + 6, y(v) - 6, `the model itself is ${models[0].words[1]} on ${percent(v)}`); }
    const taken = [];
    certs.forEach(c => {
      const i = data.certificates.indexOf(c);
      const dot = make("svg:circle", { cx: x(c.operations), cy: y(c.lost), r: 8, class: "dot", tabindex: 0, role: "button", "data-dot": i, "aria-label": `${c.kind}, ${c.file}` });
      const words = `${c.kind}, ${c.file}: ${c.exact ? "exactly" : "at least"} ${c.lower}, ${c.operations.toLocaleString("en")} operations`;
      for (const event of ["mouseenter", "focus"]) dot.addEventListener(event, () => { note.textContent = words; });
      dot.addEventListener("click", () => select(i));
      dot.addEventListener("keydown", event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); select(i); } });
      dot.classList.toggle("chosen", i === state.certificate);
      svg.append(dot);
      let ty = y(c.lost) - 12;
      const before = x(c.operations) > left + 0.6 * (right - left);
      while (taken.some(([a, b]) => Math.abs(a - x(c.operations)) < 110 && Math.abs(b - ty) < 14)) ty -= 14;
      taken.push([x(c.operations), ty]);
      text(x(c.operations) + (before ? -2 : 2), ty, c.name, { class: "name", "text-anchor": before ? "end" : "start" });
    });
  };

  const list = document.getElementById("step-list"), detail = document.getElementById("step-detail");
  const steps = () => data.certificates[state.certificate].steps;
  const stepList = () => {
    list.replaceChildren(...steps().map((step, i) => {
      const item = make("li", { role: "option", id: `step-${i}`, "data-step": i, "aria-selected": "false" });
      item.append(`${i} `, make("code", {}, step.rule), make("span", {}, step.title));
      item.addEventListener("click", () => showStep(i));
      return item;
    }));
    showStep(steps().length - 1, false);
  };
  const showStep = (i, scroll = true) => {
    state.step = i;
    const step = steps()[i];
    for (const item of list.children) {
      const at = Number(item.dataset.step);
      item.setAttribute("aria-selected", String(at === i));
      item.classList.toggle("premise", step.premises.some(([, p]) => p === at));
    }
    list.setAttribute("aria-activedescendant", `step-${i}`);
    if (scroll) list.children[i].scrollIntoView({ block: "nearest" }); else list.scrollTop = list.scrollHeight;
    const heading = make("h3", {}, `Step ${i}: `);
    heading.append(make("code", {}, step.rule));
    const parts = [heading, make("p", { class: "small" }, step.title)];
    const links = (title, numbers) => {
      if (!numbers.length) return;
      parts.push(make("h4", {}, title));
      const row = make("p", { class: "links" });
      for (const [words, to] of numbers) {
        const button = make("button", { type: "button", "data-goto": to }, words);
        button.addEventListener("click", () => { showStep(to); list.focus(); });
        row.append(button);
      }
      parts.push(row);
    };
    links("Premises", step.premises.map(([key, p]) => [`${key}: step ${p}, ${steps()[p].rule}`, p]));
    links("Used by", step.used_by.map(p => [`step ${p}, ${steps()[p].rule}`, p]));
    const table = (title, head, rows, kinds) => {
      if (!rows.length) return;
      parts.push(make("h4", {}, title));
      const body = make("tbody"), top = make("tr");
      head.forEach(name => top.append(make("th", {}, name)));
      rows.forEach(row => {
        const line = make("tr");
        row.forEach((cell, k) => line.append(make("td", { class: kinds[k] }, cell)));
        body.append(line);
      });
      const made = make("table"), first = make("thead");
      first.append(top); made.append(first, body); parts.push(made);
    };
    table("Numbers", ["of", "in decimals", "exactly"], step.numbers, ["", "dec", "exact"]);
    parts.push(make("h4", {}, "The rule (docs/FORMAT.md)"));
    const math = make("div", { class: "math" });
    // HTML made from our own documentation, with HTML in it disabled; nothing of a certificate goes through here
    math.innerHTML = data.rules[step.rule] || "<p>docs/FORMAT.md has no section with this name.</p>";
    parts.push(math);
    table("Arguments in the file", ["name", "value"], step.arguments, ["", "exact"]);
    detail.replaceChildren(...parts);
  };
  list.addEventListener("keydown", event => {
    const to = { ArrowDown: state.step + 1, ArrowUp: state.step - 1, Home: 0, End: steps().length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    if (to >= 0 && to < steps().length) showStep(to);
  });

  let drawLoss = () => {};
  const select = i => {
    state.certificate = i;
    document.querySelectorAll("[data-select]").forEach(tab => {
      const chosen = Number(tab.dataset.select) === i;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    });
    document.querySelectorAll("[data-panel]").forEach(panel => { panel.hidden = Number(panel.dataset.panel) !== i; });
    document.querySelectorAll("[data-card]").forEach(card => card.classList.toggle("chosen", data.certificates.length > 1 && Number(card.dataset.card) === i));
    document.querySelectorAll("[data-dot]").forEach(dot => dot.classList.toggle("chosen", Number(dot.dataset.dot) === i));
    drawLoss();
    stepList();
  };
  document.querySelectorAll("[data-select]").forEach(tab => {
    tab.addEventListener("click", () => select(Number(tab.dataset.select)));
    tab.addEventListener("keydown", event => {
      const turn = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!turn) return;
      const n = data.certificates.length, to = (state.certificate + turn + n) % n;
      select(to);
      document.getElementById(`tab-${to}`).focus();
    });
  });
  frontier();
  redraws.push(frontier);
  drawLoss = lossMap();
  circuits();
  select(0);
  const redraw = () => redraws.forEach(draw => draw());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  matchMedia("print").addEventListener("change", redraw);
  let shown = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== shown) { shown = innerWidth; frontier(); } });
})();
