"use strict";
/* The page of pair interactions: a map on a canvas, and two tables, of the data that page.c writes
 * into the element "data" (its format: docs/reference/fmo.md). Nothing is loaded. */
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const kcal = data.kcal_per_hartree, n = data.fragments.length;
const units = {kcal: [kcal, "kcal/mol", 2], kj: [4.184 * kcal, "kJ/mol", 2], hartree: [1, "hartree", 6]};
const element = (id) => document.getElementById(id);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const PAGE = 200, BINS = 1000;

/* Pairs and fragments as objects. Energies are in hartree, null where they are not defined. */
const pairs = data.pairs.map(([i, j, scf, bonded, distance, energy, es]) =>
  ({i: i - 1, j: j - 1, scf, bonded, distance, energy, es, rest: es === null || energy === null ? null : energy - es}));
const fragments = data.fragments.map(([name, charge, mulliken, atoms, electrons, functions, energy, homo, sum], k) =>
  ({k, name, charge, mulliken, atoms, electrons, functions, energy, homo, sum}));
const index = new Map(pairs.map((p) => [p.i * n + p.j, p]));
const find = (i, j) => index.get(Math.min(i, j) * n + Math.max(i, j));
const label = (k) => (fragments[k].name || "fragment " + (k + 1));

/* The whole state: what is chosen, listed and drawn. */
const state = {at: null, unit: "kcal", from: 0, to: n - 1, rows: PAGE, sort: {pairs: ["energy", "size"], fragments: ["k", "up"]}};

function number(value, digits) {
  if (value === null || !Number.isFinite(value)) return "–";
  const text = Math.abs(value).toFixed(digits);
  return (value < 0 && Number(text) !== 0 ? "−" : "") + text;
}
const energy = (value, more = 0) => number(value === null ? null : value * units[state.unit][0], units[state.unit][2] + more);

/* ---- colours --------------------------------------------------------------------------------- */

/* In the dark the middle of the scale is dark, and its ends are bright. */
const night = ["#ffb199", "#f4775a", "#b8402e", "#6e2a26", "#2b2f33", "#24486e", "#2f6fae", "#5ca4e6", "#b3dcff"];
const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
function colour(energy) {
  const stops = dark.matches ? night : data.colours;
  const t = (Math.min(1, Math.max(-1, energy * kcal / data.range_kcal)) + 1) / 2 * (stops.length - 1);
  const k = Math.min(stops.length - 2, Math.floor(t)), a = rgb(stops[k]), b = rgb(stops[k + 1]);
  return a.map((from, c) => Math.round(from + (t - k) * (b[c] - from)));
}
const fill = (p) => p.bonded || p.energy === null ? (dark.matches ? [92, 98, 104] : [176, 176, 176]) : colour(p.energy);

/* ---- the map --------------------------------------------------------------------------------- */

const map = element("map");
let drawn = {left: 0, top: 0, side: 0, picture: null};

/* The cells as a picture of at most BINS cells a side; of several pairs in one cell the strongest is drawn. */
function picture() {
  const count = state.to - state.from + 1, side = Math.min(count, BINS);
  const made = document.createElement("canvas");
  made.width = made.height = side;
  const context = made.getContext("2d"), image = context.createImageData(side, side);
  const strength = new Float64Array(side * side).fill(-1), zero = colour(0);
  const put = (x, y, [red, green, blue]) => image.data.set([red, green, blue, 255], 4 * (y * side + x));
  for (let y = 0; y < side; y++) for (let x = 0; x < side; x++) put(x, y, zero);
  for (const p of pairs) {
    if (p.i < state.from || p.j > state.to) continue;
    const x = Math.floor((p.i - state.from) * side / count), y = Math.floor((p.j - state.from) * side / count);
    const size = p.bonded || p.energy === null ? 0 : Math.abs(p.energy);
    if (size <= strength[y * side + x]) continue;
    strength[y * side + x] = strength[x * side + y] = size;
    put(x, y, fill(p));
    put(y, x, fill(p));
  }
  const own = dark.matches ? [58, 64, 70] : [217, 217, 217];
  for (let k = 0; k < side; k++) put(k, k, own);
  context.putImageData(image, 0, 0);
  return made;
}

/* A canvas in pixels of the screen, with a context in those of the page. */
function sized(canvas, height) {
  const width = canvas.clientWidth, ratio = window.devicePixelRatio || 1;
  canvas.style.height = height + "px";
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);

/* Names at the axes: every step-th that fits, shortened to 12 characters. */
function axes(context, {left, side}, cell, font) {
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((s) => s * cell >= font + 2) || 1000;
  context.font = font + "px system-ui, Helvetica, Arial, sans-serif";
  context.fillStyle = style("--text");
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (let k = state.from; k <= state.to; k++) {
    if (step > 1 && (k + 1) % step) continue;
    const at = (k - state.from + 0.5) * cell, name = axisName(k, step);
    context.fillText(name, left - 5, at + 1);
    context.save();
    context.translate(left + at, side + 6);
    context.rotate(-Math.PI / 2);
    context.fillText(name, 0, 0);
    context.restore();
  }
}
function axisName(k, step) {
  const name = step > 1 ? String(k + 1) : fragments[k].name || String(k + 1);
  return name.length > 12 ? name.slice(0, 11) + "…" : name;
}

/* Space for names at the left and below, in pixels. */
function marginOf(font) {
  const context = map.getContext("2d");
  let widest = 0;
  context.font = font + "px system-ui, Helvetica, Arial, sans-serif";
  for (let k = state.from; k <= state.to; k++)
    widest = Math.max(widest, context.measureText(axisName(k, 1)).width, context.measureText(String(k + 1)).width);
  return Math.ceil(widest) + 10;
}

/* Hatching of pairs with a cut bond, where cells are large enough. */
function hatch(context, {left}, cell) {
  context.strokeStyle = dark.matches ? "#2b2f33" : "#e4e4e4";
  context.lineWidth = 1.5;
  context.beginPath();
  for (const p of pairs) {
    if (!p.bonded || p.i < state.from || p.j > state.to) continue;
    for (const [x, y] of [[p.i, p.j], [p.j, p.i]])
      for (const t of [0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75]) {
        const [a, b] = [Math.max(0, t - 1), Math.min(1, t)];
        context.moveTo(left + (x - state.from + a) * cell, (y - state.from + b) * cell);
        context.lineTo(left + (x - state.from + b) * cell, (y - state.from + a) * cell);
      }
  }
  context.stroke();
  context.lineWidth = 1;
}

/* The numbers of pairs, below the diagonal, where cells are large enough. */
function cellNumbers(context, {left}, cell) {
  if (cell < 30 || state.unit === "hartree") return;
  context.font = (cell < 42 ? 10 : 12) + "px system-ui, Helvetica, Arial, sans-serif";
  context.textAlign = "center";
  for (const p of pairs) {
    if (p.i < state.from || p.j > state.to || p.bonded || p.energy === null) continue;
    const [r, g, b] = fill(p), size = Math.abs(p.energy * units[state.unit][0]);
    context.fillStyle = 0.3 * r + 0.59 * g + 0.11 * b > 140 ? "#1d2125" : "#ffffff";
    context.fillText(number(p.energy * units[state.unit][0], size < 9.95 ? 1 : 0), left + (p.i - state.from + 0.5) * cell,
                     (p.j - state.from + 0.5) * cell + 1);
  }
}

function drawMap() {
  const count = state.to - state.from + 1, width = map.clientWidth, font = width < 500 ? 10 : 11;
  const margin = marginOf(font);
  const side = Math.min(width - margin - 6, count * 72), cell = side / count;
  if (side <= 0) return;
  const paper = sized(map, side + margin);
  drawn = {left: margin, top: 0, side, picture: drawn.picture || picture()};
  paper.imageSmoothingEnabled = cell < 1;
  paper.drawImage(drawn.picture, margin, 0, side, side);
  if (cell >= 14) hatch(paper, drawn, cell);
  if (cell >= 9) {
    paper.strokeStyle = style("--back");
    paper.beginPath();
    for (let k = 0; k <= count; k++) {
      paper.moveTo(margin + k * cell, 0);
      paper.lineTo(margin + k * cell, side);
      paper.moveTo(margin, k * cell);
      paper.lineTo(margin + side, k * cell);
    }
    paper.stroke();
  }
  axes(paper, drawn, cell, font);
  cellNumbers(paper, drawn, cell);
  if (state.at) {
    const mark = Math.max(cell, 6), shift = (cell - mark) / 2;
    for (const [x, y] of [state.at, [state.at[1], state.at[0]]]) {
      paper.lineWidth = 3;
      paper.strokeStyle = style("--back");
      paper.strokeRect(margin + (x - state.from) * cell + shift, (y - state.from) * cell + shift, mark, mark);
      paper.lineWidth = 1.5;
      paper.strokeStyle = style("--text");
      paper.strokeRect(margin + (x - state.from) * cell + shift, (y - state.from) * cell + shift, mark, mark);
    }
  }
  map.setAttribute("aria-label", "Map of pair interaction energies of fragments " + (state.from + 1) + " to " + (state.to + 1));
}

function drawScale() {
  const canvas = element("scale"), context = sized(canvas, 44), range = data.range_kcal, width = canvas.clientWidth - 40;
  for (let x = 0; x < width; x++) {
    context.fillStyle = "rgb(" + colour((2 * x / (width - 1) - 1) * range / kcal).join(" ") + ")";
    context.fillRect(20 + x, 6, 1.5, 14);
  }
  context.fillStyle = style("--text");
  context.font = "12px system-ui, Helvetica, Arial, sans-serif";
  const unit = units[state.unit], end = range / kcal * unit[0], digits = end >= 10 ? 0 : end >= 0.2 ? 1 : 4;
  for (const t of [-1, 0, 1]) {
    context.textAlign = t < 0 ? "left" : t ? "right" : "center";
    context.fillText(t ? number(t * end, digits) : "0 " + unit[1], t < 0 ? 6 : t ? width + 34 : 20 + width / 2, 36);
  }
  canvas.setAttribute("aria-label", "Colours from " + number(-end, digits) + " to " + number(end, digits) + " " + unit[1] +
                      "; stronger pairs have the colour of the end");
}

/* The fragments under a point of the map, or null. */
function under(event) {
  const box = map.getBoundingClientRect(), count = state.to - state.from + 1;
  const x = Math.floor((event.clientX - box.left - drawn.left) / drawn.side * count);
  const y = Math.floor((event.clientY - box.top - drawn.top) / drawn.side * count);
  return x < 0 || y < 0 || x >= count || y >= count ? null : [x + state.from, y + state.from];
}

/* ---- the chosen pair ------------------------------------------------------------------------- */

function add(parent, tag, text, attributes = {}) {
  const made = document.createElement(tag);
  if (text !== null) made.textContent = text;
  for (const name of Object.keys(attributes)) made.setAttribute(name, attributes[name]);
  parent.append(made);
  return made;
}

function listPairsOf(k) {
  element("fragment").value = fragments[k].name || String(k + 1);
  element("partner").value = "";
  listPairs(true);
  element("pairs-head").scrollIntoView({block: "start"});
}

function showPair() {
  const box = element("pair");
  box.replaceChildren();
  if (!state.at) {
    add(box, "p", "None. Choose one in the map or in the table.", {class: "quiet"});
    return;
  }
  const [i, j] = state.at, p = i === j ? null : find(i, j);
  add(add(box, "p", null), "strong", label(i) + (i === j ? "" : " – " + label(j)));
  const rows = [];
  if (i === j)
    rows.push(["Charge", String(fragments[i].charge)], ["Mulliken charge", number(fragments[i].mulliken, 3)],
              ["Sum of interactions", energy(fragments[i].sum)]);
  else if (!p)
    add(box, "p", "Weaker than " + energy(data.omitted.below) + " " + units[state.unit][1] + "; left out of this page.", {class: "quiet"});
  else {
    if (p.bonded) add(box, "p", "A cut bond joins them: the energy contains the bond.", {class: "quiet"});
    rows.push(["Total, " + units[state.unit][1], energy(p.energy, 1)], ["Electrostatic", energy(p.es, 1)],
              ["Exchange, transfer", energy(p.rest, 1)], ["Distance, van der Waals", number(p.distance, 2)],
              ["Computed by", p.scf ? "SCF" : "electrostatics"]);
  }
  const list = add(box, "dl", null);
  for (const [name, value] of rows) {
    add(list, "dt", name);
    add(list, "dd", value);
  }
  const buttons = add(box, "div", null, {class: "controls"});
  for (const k of i === j ? [i] : [i, j])
    add(buttons, "button", "Pairs of " + label(k), {type: "button"}).addEventListener("click", () => listPairsOf(k));
}

function choose(at) {
  state.at = at;
  showPair();
  drawMap();
  for (const row of element("pairs").querySelectorAll("tbody tr"))
    row.classList.toggle("hit", Boolean(at) && row.dataset.pair === Math.min(...at) + " " + Math.max(...at));
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Columns: key, heading, text of a cell. */
const columns = {
  pairs: [["i", () => "Pair", (p) => label(p.i) + " – " + label(p.j)], ["energy", () => "Total", (p) => energy(p.energy)],
          ["es", () => "ES", (p) => energy(p.es)], ["rest", () => "EX+CT", (p) => energy(p.rest)],
          ["distance", () => "Dist.", (p) => number(p.distance, 2)], ["scf", () => "Kind", (p) => (p.scf ? "SCF" : "ES") + (p.bonded ? ", bond" : "")]],
  fragments: [["k", () => "Fragment", (f) => f.k + 1 + (f.name ? "  " + f.name : "")], ["charge", () => "Charge", (f) => String(f.charge)],
              ["mulliken", () => "Mulliken", (f) => number(f.mulliken, 3)], ["sum", () => "Sum", (f) => energy(f.sum)],
              ["energy", () => "E′, hartree", (f) => number(f.energy, 6)], ["homo", () => "HOMO, hartree", (f) => number(f.homo, 4)],
              ["atoms", () => "Atoms", (f) => String(f.atoms)], ["electrons", () => "Electrons", (f) => String(f.electrons)],
              ["functions", () => "Functions", (f) => String(f.functions)]]};
const by_size = new Set(["energy", "es", "rest", "sum"]);

/* Orders: "size" (strongest first), "up", "down"; values that are not defined come last. */
function sorted(rows, [key, order]) {
  const value = (row) => row[key] === null || !Number.isFinite(row[key]) ? Infinity
    : order === "size" ? -Math.abs(row[key]) : order === "down" ? -row[key] : row[key];
  return rows.map((row) => [value(row), row]).sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)).map(([, row]) => row);
}

function turn(name, key) {
  const [now, order] = state.sort[name];
  const orders = by_size.has(key) ? ["size", "up", "down"] : ["up", "down"];
  state.sort[name] = [key, now === key ? orders[(orders.indexOf(order) + 1) % orders.length] : orders[0]];
}

/* Fills a table; press: what a press on a row does. */
function table(name, rows, redraw, press) {
  const to = element(name), [key, order] = state.sort[name], body = document.createElement("tbody");
  const focused = document.activeElement && document.activeElement.dataset.column;
  to.replaceChildren();
  const head = add(add(to, "thead", null), "tr", null);
  for (const [column, heading] of columns[name]) {
    const cell = add(head, "th", null, {scope: "col"});
    if (column === key) cell.setAttribute("aria-sort", order === "up" ? "ascending" : "descending");
    const strongest = column === key && order === "size";
    const button = add(cell, "button", strongest ? "|" + heading() + "|" : heading(), {type: "button", "data-column": name + column});
    button.addEventListener("click", () => { turn(name, column); redraw(); });
    if (focused === name + column) window.requestAnimationFrame(() => button.focus());
  }
  for (const row of rows) {
    const line = add(body, "tr", null);
    columns[name].forEach(([, , text], c) => {
      const cell = add(line, "td", c ? text(row) : null, c ? {} : {class: "name"});
      if (!c) add(cell, "button", text(row), {type: "button"});
    });
    press(line, row);
  }
  to.append(body);
}

/* The fragments that a text means: the one of this name or number, else all whose name contains it. */
function meant(text) {
  const words = text.trim().toLowerCase();
  if (!words) return null;
  const exact = fragments.filter((f) => (f.name || "").toLowerCase() === words || String(f.k + 1) === words);
  return new Set((exact.length ? exact : fragments.filter((f) => (f.name || "").toLowerCase().includes(words))).map((f) => f.k));
}

function listPairs(anew) {
  if (anew) state.rows = PAGE;
  const one = meant(element("fragment").value), other = meant(element("partner").value), bonded = element("bonded").checked;
  const fits = (a, b) => (!one || one.has(a)) && (!other || other.has(b));
  const rows = sorted(pairs.filter((p) => (bonded || !p.bonded) && (fits(p.i, p.j) || fits(p.j, p.i))), state.sort.pairs);
  let sum = 0;
  for (const p of rows) if (!p.bonded) sum += p.energy || 0;
  element("count").textContent = units[state.unit][1] + ": " + rows.length + (rows.length === 1 ? " pair" : " pairs") + ", sum without cut bonds " +
    energy(sum) + (data.omitted.pairs ? "; weaker ones are left out" : "");
  table("pairs", rows.slice(0, state.rows), () => listPairs(false), (line, p) => {
    line.dataset.pair = p.i + " " + p.j;
    line.classList.toggle("hit", Boolean(state.at) && find(...state.at) === p);
    line.addEventListener("click", () => choose([p.i, p.j]));
  });
  element("more").hidden = rows.length <= state.rows;
  element("more").textContent = "Show " + Math.min(PAGE, rows.length - state.rows) + " more of " + rows.length;
}

function listFragments() {
  table("fragments", sorted(fragments, state.sort.fragments), listFragments, (line, f) =>
    line.addEventListener("click", () => { choose([f.k, f.k]); listPairsOf(f.k); }));
}

/* ---- the page -------------------------------------------------------------------------------- */

function drawAll() {
  drawn.picture = null;
  drawMap();
  drawScale();
}

function describe() {
  const omitted = data.omitted, title = "Pair interactions" + (data.name ? ": " + data.name : "");
  document.title = element("title").textContent = title;
  element("about").textContent = "FMO2-RHF" + (data.basis ? "/" + data.basis : "") + ", " + n + (n === 1 ? " fragment" : " fragments") +
    ", energy " + number(data.energy_fmo2, 8) + " hartree (FMO1 " + number(data.energy_fmo1, 8) + "), fmo " + data.fmo;
  element("left-out").hidden = !omitted.pairs;
  element("left-out").textContent = omitted.pairs + " of " + (omitted.pairs + pairs.length) + " pairs, weaker than " +
    Number((omitted.below * kcal).toPrecision(2)) + " kcal/mol, are left out of this page; their sum is " + number(omitted.energy * kcal, 3) +
    " kcal/mol. The table of --pairs has all.";
  for (const f of fragments) if (f.name) add(element("names"), "option", null, {value: f.name});
}

function range() {
  const whole = (id, other) => {
    const value = Math.round(Number(element(id).value));
    return value >= 1 && value <= n ? value - 1 : other;
  };
  const from = whole("from", 0), to = whole("to", n - 1);
  [state.from, state.to] = [Math.min(from, to), Math.max(from, to)];
  if (state.at && (Math.min(...state.at) < state.from || Math.max(...state.at) > state.to)) state.at = null;
  showPair();
  drawAll();
}

function keys(event) {
  const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
  const inside = (k) => Math.min(state.to, Math.max(state.from, k));
  if (step) {
    const [x, y] = state.at || [state.from, state.from];
    choose(state.at ? [inside(x + step[0]), inside(y + step[1])] : [x, y]);
  } else if (event.key === "Home") choose([state.from, state.from]);
  else if (event.key === "End") choose([state.to, state.to]);
  else if (event.key === "Enter" && state.at) listPairsOf(state.at[0]);
  else if (event.key === "Escape") choose(null);
  else return;
  event.preventDefault();
}

let wait = null;
const later = (what) => { clearTimeout(wait); wait = setTimeout(what, 120); };
map.addEventListener("mousemove", (event) => { map.title = tip(under(event)); });
map.addEventListener("click", (event) => { const at = under(event); if (at) choose(at); });
map.addEventListener("keydown", keys);
function tip(at) {
  if (!at) return "";
  if (at[0] === at[1]) return label(at[0]);
  const p = find(...at);
  return label(at[0]) + " – " + label(at[1]) + (p ? "\n" + energy(p.energy) + " " + units[state.unit][1] : "");
}
element("unit").addEventListener("change", (event) => {
  state.unit = event.target.value;
  showPair();
  drawAll();
  listPairs(false);
  listFragments();
});
for (const id of ["from", "to"]) element(id).addEventListener("change", range);
element("all").addEventListener("click", () => { [element("from").value, element("to").value] = [1, n]; range(); });
for (const id of ["fragment", "partner"]) element(id).addEventListener("input", () => later(() => listPairs(true)));
element("bonded").addEventListener("change", () => listPairs(true));
element("more").addEventListener("click", () => { state.rows += PAGE; listPairs(false); });
element("clear").addEventListener("click", () => { element("fragment").value = element("partner").value = ""; listPairs(true); });
window.addEventListener("resize", () => later(() => { drawMap(); drawScale(); }));
dark.addEventListener("change", drawAll);

[element("from").value, element("to").value] = [1, n];
element("from").max = element("to").max = n;
describe();
if (data.ligand) element("fragment").value = fragments[data.ligand - 1].name || String(data.ligand);
showPair();
drawAll();
listPairs(true);
listFragments();
})();
