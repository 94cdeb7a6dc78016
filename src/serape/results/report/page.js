// Describes the chosen variable and searches; see graph.js.

// --- choosing ----------------------------------------------------------------------------------------------------

function choose(k) {
  if (k >= content.described) return;
  chosen = k;
  canvas.parentNode.classList.add("describing");
  if (moving() && k !== centre) {
    const inside = graph.contains(document.activeElement);
    centre = k;
    redraw();
    fit();
    if (inside) focusOn(k);
  }
  mark();
  describe(k);
}

function clear() {
  chosen = null;
  canvas.parentNode.classList.remove("describing");
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
  if (around && !moving()) {
    const outside = chosen !== null && !nodes.has(chosen);
    measure(outside ? 76 : 0);
    if (outside) ghost(chosen);
  }
}

// An excluded variable, below the graph, with lines to its separating set.
function ghost(k) {
  const { element, text } = node(k);
  const group = graph.appendChild(draw("g", { class: "ghost" }));
  group.append(element);
  shorten(text, variables[k].name, MAX_LABEL);
  const w = Math.max(44, text.getComputedTextLength() + 24);
  const item = { element, x: column ? w / 2 : 0, y: size[1] + size[3] - 22 - BOX / 2, w, h: BOX, side: 1 };
  placeNode(item);
  element.classList.add("chosen");
  element.setAttribute("aria-pressed", "true");
  element.setAttribute("tabindex", "0");
  for (const other of variables[k].separators || []) {
    const separator = nodes.get(other);
    if (!separator) continue;
    separator.element.classList.add("part");
    const y2 = separator.y + separator.h / 2;
    const y1 = item.y - item.h / 2;
    const path = column ? outsideCurve(item, separator, 0) : `M${item.x},${y1}C${item.x},${(y1 + y2) / 2} ${separator.x},${y1} ${separator.x},${y2}`;
    group.prepend(draw("path", { class: "line separating", d: path }));
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

// A sentence in which every right-to-left name stands for itself.
function sentence(text) {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(new RegExp(content.rtl, "gu"))) {
    parts.push(text.slice(end, found.index), make("bdi", {}, found[0]));
    end = found.index + found[0].length;
  }
  return [...parts, text.slice(end)];
}

function listOf(members, more) {
  if (!members.length) return make("p", {}, "none");
  const list = make("ul", { class: "names" }, ...members.map((k) => make("li", {}, nameButton(k))));
  if (more) list.append(make("li", {}, make("span", {}, `and ${more.toLocaleString("en")} more`)));
  return list;
}

function describe(k) {
  const { name, kind, role, text, facts, sets, links, separations } = variables[k];
  const title = make("h3", { tabindex: "-1" }, make("bdi", {}, name));
  const parts = [title, make("span", { class: "role" }, role)];
  parts[1].classList.add(kind);
  if (text) parts.push(make("p", {}, ...sentence(text)));
  if (facts.length) {
    parts.push(make("dl", { class: "pairs" }, ...facts.map(([label, value]) => make("div", {}, make("dt", {}, label), make("dd", {}, ...sentence(value))))));
  }
  for (const { label, members, more } of sets) parts.push(make("h4", {}, ...sentence(label)), listOf(members, more));
  if (links?.length) {
    parts.push(make("h4", {}, "Evidence for the edges"));
    parts.push(make("ul", { class: "links" }, ...links.map(([other, evidence]) => make("li", {}, nameButton(other), " ", ...sentence(evidence)))));
  }
  if (separations?.length) {
    parts.push(make("h4", {}, "Not adjacent, but with a common neighbour"));
    const separated = (by) => (by.length ? ` separated by ${by.map((z) => variables[z].name).join(", ")}` : " independent");
    parts.push(make("ul", { class: "links" }, ...separations.map(([other, by]) => make("li", {}, nameButton(other), ...sentence(separated(by))))));
  }
  panel.replaceChildren(...parts);
  panel.scrollTop = 0;
}

function start() {
  if (around) describe(centre);
  else panel.replaceChildren(make("h3", {}, "No variable is chosen"), make("p", {}, "Choose one in the graph, in the table of edges, or by its name."));
}

// --- keys in the graph -------------------------------------------------------------------------------------------

function focusOn(k) {
  for (const { element } of nodes.values()) element.setAttribute("tabindex", "-1");
  const { element } = nodes.get(k);
  element.setAttribute("tabindex", "0");
  element.focus();
}

const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function keys(event, k) {
  const direction = DIRECTIONS[event.key];
  if (event.key === "Enter" || event.key === " ") choose(k);
  else if (event.key === "Escape") clear();
  else if (event.key === "Home") focusOn(nodes.has(centre) ? centre : drawnNow()[0]);
  else if (direction) {
    const from = nodes.get(k) || { x: 0, y: size[1] + size[3], w: 0, h: 0 };
    let best = null;
    let shortest = Infinity;
    for (const [other, { x, y, w, h }] of nodes) {
      const [dx, dy] = [x - from.x, y - from.y];
      const [gapX, gapY] = [Math.abs(dx) - (w + from.w) / 2, Math.abs(dy) - (h + from.h) / 2]; // between the boxes
      const [ahead, aside] = direction[0] ? [gapX, gapY] : [gapY, gapX];
      const distance = ahead + 2 * Math.max(0, aside);
      if (other !== k && ahead > -1 && dx * direction[0] + dy * direction[1] > 0 && distance < shortest) [best, shortest] = [other, distance];
    }
    if (best !== null) focusOn(best);
  } else return;
  event.preventDefault();
}

// --- search ------------------------------------------------------------------------------------------------------

const search = byId("search");
const matches = byId("matches");
const status = byId("search-status");
const MAX_MATCHES = 12;
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
  const shown = found.length <= MAX_MATCHES + 1 ? found : found.slice(0, MAX_MATCHES); // one alone is not hidden
  for (const [, , k] of shown) {
    const item = make("li", { role: "option", id: `match-${k}`, "aria-selected": "false" }, make("bdi", {}, variables[k].name), make("span", {}, variables[k].role));
    item.addEventListener("mousedown", (event) => event.preventDefault());
    item.addEventListener("click", () => pick(k));
    matches.append(item);
  }
  matches.hidden = !found.length;
  search.setAttribute("aria-expanded", String(found.length > 0));
  const absent = content.absent ? `; ${count(content.absent, "variable")} not embedded in this file` : "";
  if (!found.length) status.textContent = `No variable name contains this text${absent}.`;
  else status.textContent = shown.length < found.length ? `${shown.length} of ${count(found.length, "variable")}` : count(found.length, "variable");
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
    items.forEach((item, index) => item.setAttribute("aria-selected", String(index === active)));
    items[active].scrollIntoView({ block: "nearest" });
    search.setAttribute("aria-activedescendant", items[active].id);
  } else return;
  event.preventDefault();
});

// --- variables in tables -----------------------------------------------------------------------------------------

for (const button of document.querySelectorAll("button.variable")) {
  button.addEventListener("click", () => {
    choose(Number(button.dataset.variable));
    byId("graph-title").scrollIntoView({ block: "start" });
    panel.querySelector("h3").focus({ preventScroll: true });
  });
}

// --- size ---------------------------------------------------------------------------------------------------------

byId("smaller").addEventListener("click", () => scale(zoom / 1.25));
byId("larger").addEventListener("click", () => scale(zoom * 1.25));
byId("fit").addEventListener("click", fit);
for (const line of document.querySelectorAll(".legend [data-strength]")) line.setAttribute("stroke-width", lineWidth(Number(line.dataset.strength)));

// A full graph is shown around one variable on a narrow page, or when the reader wants it so.
const whole = byId("whole");

function show(isAround) {
  around = isAround;
  centre = moving() ? chosen ?? content.centre : content.centre;
  whole.textContent = around ? "Whole graph" : "One variable";
  redraw();
  fit();
  mark();
  if (chosen === null) start();
}

whole.hidden = !full;
whole.addEventListener("click", () => show(!around));

const wantsAround = () => !full || (isNarrow() && content.size[0] * SMALLEST > room());
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width) return; // a phone changes the height while it scrolls
  width = innerWidth;
  show(wantsAround() || (full && around));
});
show(wantsAround());
