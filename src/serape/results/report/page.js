"use strict";
// Draws the graph, tells about the chosen variable, searches and sorts. Names come from the data: they are only ever set
// as text. `content` has: mode ("around" one variable, or the "whole" graph, whose places are given), centre, variables
// (the first `described` of which can be chosen; the rest are names that these mention), drawn, edges, absent, label.
(() => {
  const byId = (id) => document.getElementById(id);
  const content = JSON.parse(byId("content").textContent);
  const { variables, edges } = content;
  const graph = byId("graph");
  const panel = byId("panel");
  const canvas = byId("canvas");
  const around = content.mode === "around";
  const moving = around && variables[content.centre].kind !== "target"; // the centre is whatever is chosen
  const BOX = 28;
  const LONGEST = 200;
  let centre = content.centre;
  let chosen = null;
  let nodes = new Map(); // by variable: x, y, w, h, side, column, element
  let size = [0, 0, 100, 100];
  let zoom = 1;

  // --- making elements ---------------------------------------------------------------------------------------------

  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    return filled(element, attributes, children);
  }

  function draw(tag, attributes, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    return filled(element, attributes, children);
  }

  function filled(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  function count(number, what) {
    return `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
  }

  // --- where everything goes ---------------------------------------------------------------------------------------

  function neighbours(k) {
    const found = new Map();
    for (const edge of edges) {
      if (edge.a === k) found.set(edge.b, edge);
      else if (edge.b === k) found.set(edge.a, edge);
    }
    return found;
  }

  // The centre in the middle, what is joined to it in a lens around it (parents to the left and children to the right,
  // where that is known), and those joined through one of them beyond it.
  function placeAround() {
    const direct = neighbours(centre);
    const beyond = new Map([...direct.keys()].map((k) => [k, []]));
    if (!moving) {
      for (const k of content.drawn) {
        if (k === centre || direct.has(k)) continue;
        const through = [...neighbours(k).keys()].find((other) => beyond.has(other));
        if (through !== undefined) beyond.get(through).push(k);
      }
    }
    const room = (k) => Math.max(1, beyond.get(k).length);
    const sides = new Map([[-1, []], [1, []]]);
    const load = new Map([[-1, 0], [1, 0]]);
    const put = (k, side) => {
      sides.get(side).push(k);
      load.set(side, load.get(side) + room(k));
    };
    const order = [...direct.keys()].sort((a, b) => direct.get(b).strength - direct.get(a).strength);
    const known = (k) => (!direct.get(k).arrow ? 0 : direct.get(k).a === centre ? 1 : -1);
    for (const k of order) if (known(k)) put(k, known(k));
    for (const k of order) if (!known(k)) put(k, load.get(1) <= load.get(-1) ? 1 : -1);

    const most = Math.max(load.get(-1), load.get(1), 1);
    const step = most <= 8 ? 48 : most <= 14 ? 42 : 36;
    const height = most * step;
    const bulge = Math.min(110, 24 + height / 5);
    const middle = nodes.get(centre);
    Object.assign(middle, { x: 0, y: 0, side: 0, column: 0 });
    for (const [side, own] of sides) {
      const total = load.get(side) * step;
      const start = middle.w / 2 + 60;
      const widest = Math.max(0, ...own.map((k) => nodes.get(k).w));
      const lens = (y) => bulge * Math.sqrt(Math.max(0, 1 - (y / (height / 2 + step)) ** 2));
      let y = -total / 2;
      for (const k of own) {
        const node = nodes.get(k);
        const deep = room(k) * step;
        const at = y + deep / 2;
        Object.assign(node, { y: at, x: side * (start + lens(at) + node.w / 2), side, column: 1 });
        beyond.get(k).forEach((other, place) => {
          const far = nodes.get(other);
          const level = y + (place + 0.5) * step;
          Object.assign(far, { y: level, x: side * (start + bulge + widest + 70 + far.w / 2), side, column: 2 });
        });
        y += deep;
      }
    }
  }

  function shownNow() {
    if (!around) return content.drawn;
    return moving ? [centre, ...neighbours(centre).keys()] : content.drawn;
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

  function shorten(text, name, room) {
    if (text.getComputedTextLength() <= room) return;
    const letters = [...name];
    const end = Math.min(6, letters.length >> 1); // where names that begin alike differ
    let [low, high] = [1, letters.length - end];
    const cut = (kept) => {
      text.textContent = `${letters.slice(0, kept).join("")}…${letters.slice(-end).join("")}`;
    };
    while (low < high) {
      const half = Math.ceil((low + high) / 2);
      cut(half);
      if (text.getComputedTextLength() <= room) low = half;
      else high = half - 1;
    }
    cut(low);
  }

  function settle({ element, x, y, w, h }) {
    const [ring, box] = element.querySelectorAll("rect");
    const place = (rect, more) => {
      const values = { x: x - w / 2 - more, y: y - h / 2 - more, width: w + 2 * more, height: h + 2 * more, rx: Math.min(h, BOX) / 2 + more };
      for (const [name, value] of Object.entries(values)) rect.setAttribute(name, value.toFixed(1));
    };
    place(ring, 4);
    place(box, 0);
    const text = element.querySelector("text");
    text.setAttribute("x", x.toFixed(1));
    text.setAttribute("y", y.toFixed(1));
  }

  function curve(edge) {
    const a = nodes.get(edge.a);
    const b = nodes.get(edge.b);
    const gap = edge.arrow ? 3 : 0;
    if (a.column === b.column && a.side === b.side) { // beside each other: outside round
      const x1 = a.x + (a.side * a.w) / 2;
      const x2 = b.x + b.side * (b.w / 2 + gap);
      const out = Math.max(x1 * a.side, x2 * a.side) + 26 + Math.abs(a.y - b.y) / 6;
      return `M${x1},${a.y}C${out * a.side},${a.y} ${out * a.side},${b.y} ${x2},${b.y}`;
    }
    const way = a.x < b.x ? 1 : -1;
    const x1 = a.x + (way * a.w) / 2;
    const x2 = b.x - way * (b.w / 2 + gap);
    const bend = (x2 - x1) * 0.5;
    return `M${x1},${a.y}C${x1 + bend},${a.y} ${x2 - bend},${b.y} ${x2},${b.y}`;
  }

  function given(route) {
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

  function redraw() {
    graph.replaceChildren(draw("defs", {}, arrowhead("arrow"), arrowhead("arrow-lit")));
    graph.setAttribute("aria-label", content.label);
    const lines = graph.appendChild(draw("g", { class: "lines", "aria-hidden": "true" }));
    const boxes = graph.appendChild(draw("g", { class: "nodes" }));
    nodes = new Map();
    for (const k of shownNow()) {
      const { element, text } = node(k);
      boxes.append(element);
      const room = around ? LONGEST : content.boxes[k][2] - 14;
      shorten(text, variables[k].name, room);
      nodes.set(k, { element, w: Math.max(44, text.getComputedTextLength() + 24), h: BOX });
    }
    if (around) placeAround();
    else for (const [k, item] of nodes) [item.x, item.y, item.w, item.h] = content.boxes[k];
    for (const item of nodes.values()) settle(item);
    edges.forEach((edge, k) => {
      if (!nodes.has(edge.a) || !nodes.has(edge.b)) return;
      const line = draw("path", {
        class: edge.loose ? "line loose" : "line",
        d: around ? curve(edge) : given(content.routes[k]),
        "stroke-width": (1.2 + 2.6 * edge.strength).toFixed(2),
        "data-a": edge.a,
        "data-b": edge.b,
      });
      if (edge.arrow) line.setAttribute("marker-end", "url(#arrow)");
      lines.append(line);
    });
    nodes.get(nodes.has(centre) ? centre : shownNow()[0])?.element.setAttribute("tabindex", "0");
    measure(0);
  }

  function measure(more) {
    const margin = 22;
    if (around) {
      const boxes = [...nodes.values()].map(({ x, y, w, h }) => [x - w / 2, y - h / 2, x + w / 2, y + h / 2]);
      const { x, y, width, height } = graph.querySelector(".lines").getBBox();
      if (width) boxes.push([x, y, x + width, y + height]);
      const [left, top] = [0, 1].map((k) => Math.min(...boxes.map((box) => box[k])));
      const [right, bottom] = [2, 3].map((k) => Math.max(...boxes.map((box) => box[k])));
      const lift = Math.max(0, 220 - (bottom - top)) / 2; // room for a small graph to stand in
      size = [left - margin, top - margin - lift, right - left + 2 * margin, bottom - top + 2 * (margin + lift) + more];
    } else size = [-margin, -margin, content.size[0] + 2 * margin, content.size[1] + 2 * margin];
    graph.setAttribute("viewBox", size.map((v) => v.toFixed(1)).join(" "));
    scale(zoom);
  }

  function scale(to) {
    zoom = Math.min(3, Math.max(0.3, to));
    graph.setAttribute("width", (size[2] * zoom).toFixed(0));
    graph.setAttribute("height", (size[3] * zoom).toFixed(0));
  }

  function fit() {
    // Never so small that names cannot be read: what does not fit is given the whole width, or else is scrolled to.
    const stage = canvas.parentNode;
    stage.classList.remove("wide");
    stage.classList.toggle("wide", size[2] * 0.8 > canvas.clientWidth);
    scale(Math.min(1.2, Math.max(0.72, (canvas.clientWidth - 2) / size[2])));
    if (!around) return;
    canvas.scrollLeft = -size[0] * zoom - canvas.clientWidth / 2; // the centre in view
    canvas.scrollTop = -size[1] * zoom - canvas.clientHeight / 2;
  }

  // --- choosing ----------------------------------------------------------------------------------------------------

  function choose(k) {
    if (k >= content.described) return;
    chosen = k;
    canvas.parentNode.classList.add("telling");
    if (moving && k !== centre) {
      const inside = graph.contains(document.activeElement);
      centre = k;
      redraw();
      fit();
      if (inside) focusOn(k);
    }
    mark();
    tell(k);
  }

  function clear() {
    chosen = null;
    canvas.parentNode.classList.remove("telling");
    mark();
    start();
  }

  function mark() {
    graph.querySelector(".ghost")?.remove();
    nodes.forEach(({ element }, k) => {
      element.classList.toggle("chosen", k === chosen);
      element.classList.remove("part");
      element.setAttribute("aria-pressed", String(k === chosen));
    });
    for (const line of graph.querySelectorAll(".lines .line")) {
      const lit = chosen !== null && !(around && chosen === centre) && [line.dataset.a, line.dataset.b].includes(String(chosen));
      line.classList.toggle("lit", lit);
      if (line.hasAttribute("marker-end")) line.setAttribute("marker-end", lit ? "url(#arrow-lit)" : "url(#arrow)");
    }
    for (const row of document.querySelectorAll("tr.chosen")) row.classList.remove("chosen");
    for (const button of document.querySelectorAll(`button.variable[data-variable="${chosen}"]`)) button.closest("tr").classList.add("chosen");
    if (around && !moving) {
      const outside = chosen !== null && !nodes.has(chosen);
      measure(outside ? 76 : 0);
      if (outside) ghost(chosen);
    }
  }

  // A variable that was left out, beneath the graph, joined to what separates it from the target.
  function ghost(k) {
    const { element, text } = node(k);
    const group = graph.appendChild(draw("g", { class: "ghost" }));
    group.append(element);
    shorten(text, variables[k].name, LONGEST);
    const item = { element, x: 0, y: size[1] + size[3] - 22 - BOX / 2, w: Math.max(44, text.getComputedTextLength() + 24), h: BOX };
    settle(item);
    element.classList.add("chosen");
    element.setAttribute("aria-pressed", "true");
    element.setAttribute("tabindex", "0");
    for (const other of variables[k].apart || []) {
      const there = nodes.get(other);
      if (!there) continue;
      there.element.classList.add("part");
      const y2 = there.y + there.h / 2;
      const y1 = item.y - item.h / 2;
      const path = `M${item.x},${y1}C${item.x},${(y1 + y2) / 2} ${there.x},${y1} ${there.x},${y2}`;
      group.prepend(draw("path", { class: "line apart", d: path }));
    }
  }

  function nameButton(k) {
    const { name } = variables[k];
    if (k >= content.described) return make("span", {}, make("bdi", {}, name));
    const button = make("button", { type: "button" }, make("bdi", {}, name));
    button.addEventListener("click", () => {
      choose(k);
      panel.querySelector("h3").focus();
    });
    return button;
  }

  function listOf(places, more) {
    if (!places.length) return make("p", {}, "nothing");
    const list = make("ul", { class: "names" }, ...places.map((k) => make("li", {}, nameButton(k))));
    if (more) list.append(make("li", {}, make("span", {}, `and ${more.toLocaleString("en")} more`)));
    return list;
  }

  function tell(k) {
    const { name, kind, role, said, facts, sets, links, parted } = variables[k];
    const title = make("h3", { tabindex: "-1" }, make("bdi", {}, name));
    const parts = [title, make("span", { class: "role" }, role)];
    parts[1].classList.add(kind);
    if (said) parts.push(make("p", {}, said));
    if (facts.length) {
      parts.push(make("dl", { class: "pairs" }, ...facts.map(([label, text]) => make("div", {}, make("dt", {}, label), make("dd", {}, text)))));
    }
    for (const { label, of, more } of sets) parts.push(make("h4", {}, label), listOf(of, more));
    if (links?.length) {
      parts.push(make("h4", {}, "What speaks for the edges"));
      parts.push(make("ul", { class: "links" }, ...links.map(([other, text]) => make("li", {}, nameButton(other), ` ${text}`))));
    }
    if (parted?.length) {
      parts.push(make("h4", {}, "Not joined, though they share a neighbour"));
      const told = ([other, by]) => [nameButton(other), by.length ? ` separated by ${by.map((z) => variables[z].name).join(", ")}` : " separated by nothing: independent"];
      parts.push(make("ul", { class: "links" }, ...parted.map((pair) => make("li", {}, ...told(pair)))));
    }
    panel.replaceChildren(...parts);
    panel.scrollTop = 0;
  }

  function start() {
    if (around) tell(centre);
    else panel.replaceChildren(make("h3", {}, "No variable is chosen"), make("p", {}, "Choose one in the graph, in the table of edges or by its name."));
  }

  // --- keys in the graph -------------------------------------------------------------------------------------------

  function focusOn(k) {
    for (const { element } of nodes.values()) element.setAttribute("tabindex", "-1");
    const { element } = nodes.get(k);
    element.setAttribute("tabindex", "0");
    element.focus();
  }

  const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  function keys(event, k) {
    const way = WAYS[event.key];
    if (event.key === "Enter" || event.key === " ") choose(k);
    else if (event.key === "Escape") clear();
    else if (event.key === "Home") focusOn(nodes.has(centre) ? centre : shownNow()[0]);
    else if (way) {
      const from = nodes.get(k) || { x: 0, y: size[1] + size[3], w: 0, h: 0 };
      let best = null;
      let least = Infinity;
      for (const [other, { x, y, w, h }] of nodes) {
        const [dx, dy] = [x - from.x, y - from.y];
        const [gapX, gapY] = [Math.abs(dx) - (w + from.w) / 2, Math.abs(dy) - (h + from.h) / 2]; // between the boxes
        const [ahead, aside] = way[0] ? [gapX, gapY] : [gapY, gapX];
        const far = ahead + 2 * Math.max(0, aside);
        if (other !== k && ahead > -1 && dx * way[0] + dy * way[1] > 0 && far < least) [best, least] = [other, far];
      }
      if (best !== null) focusOn(best);
    } else return;
    event.preventDefault();
  }

  // --- search ------------------------------------------------------------------------------------------------------

  const search = byId("search");
  const matches = byId("matches");
  const status = byId("search-status");
  const MOST = 12;
  let active = -1;

  function find() {
    const wanted = search.value.trim().toLowerCase();
    active = -1;
    matches.replaceChildren();
    search.removeAttribute("aria-activedescendant");
    if (!wanted) {
      close();
      status.textContent = "";
      return;
    }
    const found = [];
    for (let k = 0; k < content.described; k += 1) {
      const at = variables[k].name.toLowerCase().indexOf(wanted);
      if (at >= 0) found.push([at > 0, variables[k].name.length, k]);
    }
    found.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    for (const [, , k] of found.slice(0, MOST)) {
      const item = make("li", { role: "option", id: `match-${k}`, "aria-selected": "false" }, make("bdi", {}, variables[k].name), make("span", {}, variables[k].role));
      item.addEventListener("mousedown", (event) => event.preventDefault());
      item.addEventListener("click", () => pick(k));
      matches.append(item);
    }
    matches.hidden = !found.length;
    search.setAttribute("aria-expanded", String(found.length > 0));
    const absent = content.absent ? `; ${count(content.absent, "variable")} are not embedded in this file` : "";
    if (!found.length) status.textContent = `No variable here has this in its name${absent}.`;
    else status.textContent = found.length > MOST ? `${MOST} of ${count(found.length, "variable")}` : count(found.length, "variable");
  }

  function close() {
    matches.hidden = true;
    search.setAttribute("aria-expanded", "false");
    search.removeAttribute("aria-activedescendant");
    active = -1;
  }

  function pick(k) {
    choose(k);
    search.value = "";
    close();
    status.textContent = "";
    panel.querySelector("h3").focus({ preventScroll: true });
  }

  search.addEventListener("input", find);
  search.addEventListener("focus", () => search.value && find());
  search.addEventListener("blur", close);
  search.addEventListener("keydown", (event) => {
    const items = [...matches.children];
    if (event.key === "Escape") {
      search.value = "";
      find();
    } else if (event.key === "Enter" && items.length) {
      pick(Number(items[Math.max(0, active)].id.slice("match-".length)));
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && items.length) {
      active = (active + (event.key === "ArrowDown" ? 1 : -1) + items.length) % items.length;
      items.forEach((item, place) => item.setAttribute("aria-selected", String(place === active)));
      items[active].scrollIntoView({ block: "nearest" });
      search.setAttribute("aria-activedescendant", items[active].id);
    } else return;
    event.preventDefault();
  });

  // --- tables ------------------------------------------------------------------------------------------------------

  function sort(head) {
    const table = head.closest("table");
    const column = [...head.parentNode.children].indexOf(head);
    const rising = head.getAttribute("aria-sort") !== "ascending";
    const number = head.classList.contains("number");
    const key = (row) => row.children[column].dataset.order;
    const rows = [...table.tBodies[0].rows];
    const compare = (a, b) => (number || isNumeric ? Number(a) - Number(b) : a.localeCompare(b, undefined, { numeric: true }));
    const isNumeric = rows.every((row) => key(row) === undefined || !Number.isNaN(Number(key(row))));
    rows.sort((one, other) => {
      const [a, b] = [key(one), key(other)];
      if (a === undefined || b === undefined) return (a === undefined) - (b === undefined); // what is not known comes last
      return rising ? compare(a, b) : compare(b, a);
    });
    for (const other of head.parentNode.children) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", rising ? "ascending" : "descending");
    table.tBodies[0].append(...rows);
  }

  for (const button of document.querySelectorAll(".sortable thead button")) {
    button.addEventListener("click", () => sort(button.closest("th")));
  }
  for (const button of document.querySelectorAll("button.variable")) {
    button.addEventListener("click", () => {
      choose(Number(button.dataset.variable));
      byId("graph-title").scrollIntoView({ block: "start" });
      panel.querySelector("h3").focus({ preventScroll: true });
    });
  }

  // --- light and dark, size ----------------------------------------------------------------------------------------

  const theme = byId("theme");
  const wish = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme || (wish.matches ? "dark" : "light")) === "dark";
  const showTheme = () => {
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.setAttribute("aria-label", `${theme.textContent} colours`);
  };
  theme.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    showTheme();
  });
  wish.addEventListener("change", showTheme);
  showTheme();

  byId("smaller").addEventListener("click", () => scale(zoom / 1.25));
  byId("larger").addEventListener("click", () => scale(zoom * 1.25));
  byId("fit").addEventListener("click", fit);
  addEventListener("resize", fit);

  redraw();
  fit();
  start();
})();
