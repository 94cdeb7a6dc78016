// Draws the graph. tables.js, this file and page.js are joined and wrapped in one function when a report is made. Names
// come from the data: they are only set as text, never as HTML. `content` has: mode ("around" one variable, or the "full"
// graph with given positions), centre, variables (the first `described` of them can be chosen, the others are only
// mentioned), drawn, edges, absent, label, rtl (the pattern of right-to-left names).

const content = JSON.parse(byId("content").textContent);
const { variables, edges } = content;
const graph = byId("graph");
const panel = byId("panel");
const canvas = byId("canvas");
const full = content.mode === "full";
const BOX = 28;
const MAX_LABEL = 200;
const SMALLEST = 0.72; // names can be read
let around = !full;
const targeted = variables[content.centre]?.kind === "target";
const moving = () => around && !targeted; // the chosen variable becomes the centre
let column = false; // around a variable, below each other: on a narrow page
let centre = content.centre;
let chosen = null;
let nodes = new Map(); // by variable: x, y, w, h, side, depth, element; in a column, also above and trunk
let size = [0, 0, 100, 100];
let zoom = 1;

// --- making elements ---------------------------------------------------------------------------------------------

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  return fill(element, attributes, children);
}

function draw(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  return fill(element, attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function count(number, what) {
  return `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
}

// --- positions ---------------------------------------------------------------------------------------------------

function neighbours(k) {
  const found = new Map();
  for (const edge of edges) {
    if (edge.a === k) found.set(edge.b, edge);
    else if (edge.b === k) found.set(edge.a, edge);
  }
  return found;
}

// The neighbours of the centre, those with the strongest line first; by each, the variables that are joined to it alone;
// and whether it is a known parent (-1) or child (1).
function family() {
  const direct = neighbours(centre);
  const beyond = new Map([...direct.keys()].map((k) => [k, []]));
  if (!moving()) {
    for (const k of content.drawn) {
      if (k === centre || direct.has(k)) continue;
      const through = [...neighbours(k).keys()].find((other) => beyond.has(other));
      if (through !== undefined) beyond.get(through).push(k);
    }
  }
  const order = [...direct.keys()].sort((a, b) => direct.get(b).strength - direct.get(a).strength);
  const known = (k) => (!direct.get(k).arrow ? 0 : direct.get(k).a === centre ? 1 : -1);
  return { order, beyond, known };
}

// The centre is in the middle, its neighbours in a lens around it (known parents to the left, known children to the
// right), and the neighbours of these beyond.
function placeAround() {
  const { order, beyond, known } = family();
  const rows = (k) => Math.max(1, beyond.get(k).length);
  const sides = new Map([[-1, []], [1, []]]);
  const load = new Map([[-1, 0], [1, 0]]);
  const put = (k, side) => {
    sides.get(side).push(k);
    load.set(side, load.get(side) + rows(k));
  };
  for (const k of order) if (known(k)) put(k, known(k));
  for (const k of order) if (!known(k)) put(k, load.get(1) <= load.get(-1) ? 1 : -1);

  const maxLoad = Math.max(load.get(-1), load.get(1), 1);
  const step = maxLoad <= 8 ? 48 : maxLoad <= 14 ? 42 : 36;
  const height = maxLoad * step;
  const bulge = Math.min(110, 24 + height / 5);
  const middle = nodes.get(centre);
  Object.assign(middle, { x: 0, y: 0, side: 0, depth: 0 });
  for (const [side, members] of sides) {
    const total = load.get(side) * step;
    const start = middle.w / 2 + 60;
    const widest = Math.max(0, ...members.map((k) => nodes.get(k).w));
    const lens = (y) => bulge * Math.sqrt(Math.max(0, 1 - (y / (height / 2 + step)) ** 2));
    let y = -total / 2;
    for (const k of members) {
      const node = nodes.get(k);
      const depth = rows(k) * step;
      const at = y + depth / 2;
      Object.assign(node, { y: at, x: side * (start + lens(at) + node.w / 2), side, depth: 1 });
      beyond.get(k).forEach((other, index) => {
        const far = nodes.get(other);
        const level = y + (index + 0.5) * step;
        Object.assign(far, { y: level, x: side * (start + bulge + widest + 70 + far.w / 2), side, depth: 2 });
      });
      y += depth;
    }
  }
}

// The centre is on top, its neighbours are below each other (parents first, children last), and the neighbours of these
// below them. Lines run down in trunks of their own, and around the right side where there is no trunk.
function placeColumn() {
  const { order, beyond, known } = family();
  const step = 40;
  const middle = nodes.get(centre);
  Object.assign(middle, { x: middle.w / 2, y: 0, side: 1 });
  const apart = Math.min(7, Math.min(44, middle.w - 26) / Math.max(1, order.length - 1));
  const between = apart < 3 ? 0 : apart; // many lines share one trunk
  const left = 13 + between * (order.length - 1) + 26;
  let y = 0;
  [...order].sort((a, b) => known(a) - known(b)).forEach((k, index) => {
    const item = nodes.get(k);
    y += step;
    Object.assign(item, { x: left + item.w / 2, y, side: 1, above: centre, trunk: 13 + between * (order.length - 1 - index) });
    beyond.get(k).forEach((other, nth) => {
      const far = nodes.get(other);
      y += step;
      Object.assign(far, { x: left + 34 + far.w / 2, y, side: 1, above: k, trunk: left + 18 - 5 * Math.min(nth, 2) });
    });
  });
}

function drawnNow() {
  if (!around) return content.drawn;
  return moving() ? [centre, ...neighbours(centre).keys()] : content.drawn;
}

// --- drawing -----------------------------------------------------------------------------------------------------

function node(k) {
  const { name, kind, role, brief } = variables[k];
  const text = draw("text", {}, name);
  const label = [name, role, brief].filter(Boolean).join(", ");
  const element = draw("g", { class: `node ${kind}`, role: "button", tabindex: "-1", "aria-pressed": "false", "aria-label": label, "data-node": k });
  element.append(draw("title", {}, name), draw("rect", { class: "ring" }), draw("rect", {}), text);
  element.addEventListener("click", () => choose(k));
  element.addEventListener("keydown", (event) => keys(event, k));
  return { element, text };
}

function shorten(text, name, maxWidth) {
  if (text.getComputedTextLength() <= maxWidth) return;
  const letters = [...name];
  const end = Math.min(6, letters.length >> 1); // similar names often differ at the end
  let [low, high] = [1, letters.length - end];
  const cut = (kept) => {
    text.textContent = `${letters.slice(0, kept).join("")}…${letters.slice(-end).join("")}`;
  };
  while (low < high) {
    const half = Math.ceil((low + high) / 2);
    cut(half);
    if (text.getComputedTextLength() <= maxWidth) low = half;
    else high = half - 1;
  }
  cut(low);
}

function placeNode({ element, x, y, w, h }) {
  const [ring, box] = element.querySelectorAll("rect");
  const corner = element.classList.contains("spouse") ? 4 : Math.min(h, BOX) / 2; // a spouse differs without colour too
  const resize = (rect, more) => {
    const values = { x: x - w / 2 - more, y: y - h / 2 - more, width: w + 2 * more, height: h + 2 * more, rx: corner + more };
    for (const [name, value] of Object.entries(values)) rect.setAttribute(name, value.toFixed(1));
  };
  resize(ring, 4);
  resize(box, 0);
  const text = element.querySelector("text");
  text.setAttribute("x", x.toFixed(1));
  text.setAttribute("y", y.toFixed(1));
}

function curve(edge) {
  const a = nodes.get(edge.a);
  const b = nodes.get(edge.b);
  const gap = edge.arrow ? 3 : 0;
  if (column && b.above === edge.a) { // down a trunk, then to the right
    return `M${b.trunk},${a.y + a.h / 2}V${b.y - 9}Q${b.trunk},${b.y} ${b.trunk + 9},${b.y}H${b.x - b.w / 2 - gap}`;
  }
  if (column && a.above === edge.b) {
    return `M${a.x - a.w / 2},${a.y}H${a.trunk + 9}Q${a.trunk},${a.y} ${a.trunk},${a.y - 9}V${b.y + b.h / 2 + gap}`;
  }
  if (column || (a.depth === b.depth && a.side === b.side)) return outsideCurve(a, b, gap);
  const direction = a.x < b.x ? 1 : -1;
  const x1 = a.x + (direction * a.w) / 2;
  const x2 = b.x - direction * (b.w / 2 + gap);
  const bend = (x2 - x1) * 0.5;
  return `M${x1},${a.y}C${x1 + bend},${a.y} ${x2 - bend},${b.y} ${x2},${b.y}`;
}

function outsideCurve(a, b, gap) {
  const x1 = a.x + (a.side * a.w) / 2;
  const x2 = b.x + b.side * (b.w / 2 + gap);
  const away = Math.abs(a.y - b.y) / 6;
  const out = Math.max(x1 * a.side, x2 * a.side) + 26 + (column ? Math.min(30, away) : away);
  return `M${x1},${a.y}C${out * a.side},${a.y} ${out * a.side},${b.y} ${x2},${b.y}`;
}

function givenCurve(route) {
  const point = (p) => p.join(",");
  let path = `M${point(route[0])}`;
  for (let k = 1; k + 2 < route.length; k += 3) path += `C${point(route[k])} ${point(route[k + 1])} ${point(route[k + 2])}`;
  return path;
}

function arrowhead(id) {
  const lit = id === "arrow-lit";
  const shape = draw("path", { d: "M0,0L9,4L0,8Z" });
  return draw("marker", { id, class: lit ? "lit" : "", markerWidth: 9, markerHeight: 8, refX: 8, refY: 4, orient: "auto", markerUnits: "userSpaceOnUse" }, shape);
}

const lineWidth = (strength) => (1 + 5 * strength).toFixed(2);

// The width that the graph can take.
const room = () => canvas.parentNode.clientWidth - 2;

function redraw() {
  graph.replaceChildren(draw("defs", {}, arrowhead("arrow"), arrowhead("arrow-lit")));
  graph.setAttribute("aria-label", around && full ? "Graph around the chosen variable" : content.label);
  graph.append(draw("g", { class: "lines", "aria-hidden": "true" }));
  const boxes = graph.appendChild(draw("g", { class: "nodes" }));
  nodes = new Map();
  for (const k of drawnNow()) {
    const { element, text } = node(k);
    boxes.append(element);
    shorten(text, variables[k].name, around ? MAX_LABEL : content.boxes[k][2] - 14);
    nodes.set(k, { element, w: Math.max(44, text.getComputedTextLength() + 24), h: BOX });
  }
  place(false);
  if (around && size[2] * SMALLEST > room()) place(true);
  nodes.get(nodes.has(centre) ? centre : drawnNow()[0])?.element.setAttribute("tabindex", "0");
}

function place(inColumn) {
  column = inColumn;
  if (column) placeColumn();
  else if (around) placeAround();
  else for (const [k, item] of nodes) [item.x, item.y, item.w, item.h] = content.boxes[k];
  for (const item of nodes.values()) placeNode(item);
  const lines = graph.querySelector(".lines");
  lines.replaceChildren();
  edges.forEach((edge, k) => {
    if (!nodes.has(edge.a) || !nodes.has(edge.b)) return;
    const line = draw("path", {
      class: edge.loose ? "line loose" : "line",
      d: around ? curve(edge) : givenCurve(content.routes[k]),
      "stroke-width": lineWidth(edge.strength),
      "data-a": edge.a,
      "data-b": edge.b,
    });
    if (edge.arrow) line.setAttribute("marker-end", "url(#arrow)");
    lines.append(line);
  });
  measure(0);
}

function measure(more) {
  const margin = column ? 12 : 22;
  if (around) {
    const boxes = [...nodes.values()].map(({ x, y, w, h }) => [x - w / 2, y - h / 2, x + w / 2, y + h / 2]);
    const { x, y, width, height } = graph.querySelector(".lines").getBBox();
    if (width) boxes.push([x, y, x + width, y + height]);
    const [left, top] = [0, 1].map((k) => Math.min(...boxes.map((box) => box[k])));
    const [right, bottom] = [2, 3].map((k) => Math.max(...boxes.map((box) => box[k])));
    const padding = nodes.size === 1 ? 0 : Math.max(0, 220 - (bottom - top)) / 2; // so that a small graph is not cramped
    size = [left - margin, top - margin - padding, right - left + 2 * margin, bottom - top + 2 * (margin + padding) + more];
  } else size = [-margin, -margin, content.size[0] + 2 * margin, content.size[1] + 2 * margin];
  graph.setAttribute("viewBox", size.map((v) => v.toFixed(1)).join(" "));
  scale(zoom);
}

function scale(to) {
  zoom = Math.min(3, Math.max(0.15, to));
  graph.setAttribute("width", (size[2] * zoom).toFixed(0));
  graph.setAttribute("height", (size[3] * zoom).toFixed(0));
}

const isNarrow = () => room() < 700;

function fit() {
  // Names stay readable: a graph that does not fit takes the full width of the page, and scrolls if that is too small.
  // On a narrow page, a full graph is made to fit, because around one variable the names can be read.
  const stage = canvas.parentNode;
  stage.classList.remove("wide");
  stage.classList.toggle("wide", size[2] * 0.8 > canvas.clientWidth);
  scale(Math.min(1.2, Math.max(around ? 0.5 : isNarrow() ? 0.15 : SMALLEST, (canvas.clientWidth - 2) / size[2])));
  if (!around || column) return;
  canvas.scrollLeft = -size[0] * zoom - canvas.clientWidth / 2; // the centre in view
  canvas.scrollTop = -size[1] * zoom - canvas.clientHeight / 2;
}
