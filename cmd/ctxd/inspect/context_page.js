"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Colours: as the system, light, dark.
  const theme = $("theme");
  const themes = [["", "as the system", "◐"], ["light", "light", "○"], ["dark", "dark", "●"]];
  let at = 0;
  const remember = (value) => { try { value === undefined ? 0 : localStorage.setItem("ctxd-theme", value); return localStorage.getItem("ctxd-theme"); } catch { return null; } };
  const paint = () => {
    const [value, name, sign] = themes[at];
    value ? document.documentElement.dataset.theme = value : delete document.documentElement.dataset.theme;
    theme.setAttribute("aria-label", "Colours: " + name);
    theme.title = "Colours: " + name;
    theme.firstElementChild.textContent = sign;
  };
  at = Math.max(0, themes.findIndex(([value]) => value === remember()));
  paint();
  theme.hidden = false;
  theme.addEventListener("click", () => { at = (at + 1) % themes.length; remember(themes[at][0]); paint(); });

  // The prompt, as the model reads it.
  const copy = $("copy");
  if (copy) copy.hidden = !navigator.clipboard;
  copy?.addEventListener("click", async () => {
    const say = (word) => { copy.textContent = word; setTimeout(() => { copy.textContent = "Copy"; }, 1500); };
    try {
      await navigator.clipboard.writeText(all("[data-text]").map((e) => e.textContent).join(""));
      say("Copied");
    } catch { say("Not allowed"); }
  });

  // A block that is jumped to gets the focus and stays marked.
  const go = (block) => {
    all(".item.at").forEach((e) => e.classList.remove("at"));
    if (!block) return;
    if (block.classList.contains("item")) block.classList.add("at");
    block.scrollIntoView({ block: "start" });
    block.focus({ preventScroll: true });
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='#']");
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const id = link.getAttribute("href").slice(1);
    const to = $(id);
    if (!to) return;
    event.preventDefault();
    try { history.pushState(null, "", "#" + id); } catch { /* a page from a file may not */ }
    go(to);
  });
  addEventListener("popstate", () => go($(location.hash.slice(1))));

  // The graph: one stop of the Tab key, arrow keys within.
  const svg = document.querySelector(".canvas svg");
  const nodes = svg ? all("a.g-node", svg) : [];
  const edges = svg ? all(".g-edge", svg).map((path) => ({ path, ends: path.dataset.edge.split(" ") })) : [];
  const labels = svg ? all(".g-label", svg) : [];
  const box = (node) => { const b = node.getBBox(); return { x: b.x + b.width / 2, y: b.y + b.height / 2 }; };
  const stop = (node) => nodes.forEach((n) => n.setAttribute("tabindex", n === node ? "0" : "-1"));
  const light = (node) => {
    svg.classList.toggle("busy", Boolean(node));
    edges.forEach(({ path, ends }) => path.classList.toggle("on", Boolean(node) && ends.includes(node.dataset.node)));
    labels.forEach((l) => l.classList.toggle("on", Boolean(node) && l.dataset.edge.split(" ").includes(node.dataset.node)));
  };
  const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const nearest = (from, [dx, dy]) => {
    const a = box(from);
    let best = null, least = Infinity;
    for (const node of nodes) {
      const b = box(node);
      const along = (b.x - a.x) * dx + (b.y - a.y) * dy, across = Math.abs((b.x - a.x) * dy) + Math.abs((b.y - a.y) * dx);
      if (along > 1 && along + 2.5 * across < least && (dx || across < 40)) { best = node; least = along + 2.5 * across; }
    }
    return best;
  };
  if (nodes.length) {
    stop(nodes[0]);
    const canvas = svg.parentElement; // a tall graph begins with what was mentioned
    const first = nodes[0].getBoundingClientRect(), frame = canvas.getBoundingClientRect();
    canvas.scrollTop = first.top - frame.top - (frame.height - first.height) / 2;
  }
  for (const node of nodes) {
    node.addEventListener("focus", () => { stop(node); light(node); });
    node.addEventListener("blur", () => light(null));
    node.addEventListener("pointerenter", () => light(node));
    node.addEventListener("pointerleave", () => light(nodes.find((n) => n === document.activeElement) || null));
    node.addEventListener("keydown", (event) => {
      const to = directions[event.key] ? nearest(node, directions[event.key])
        : event.key === "Home" ? nodes[0] : event.key === "End" ? nodes[nodes.length - 1] : null;
      if (!to && !directions[event.key]) return;
      event.preventDefault();
      to?.focus();
    });
  }

  // Search within.
  const most = 2000;
  const query = $("query"), found = $("found"), form = $("search");
  form.hidden = false;
  let marks = [], now = -1, timer = 0;
  const places = all("[data-text], [data-search]");
  const unmark = () => {
    const parents = new Set(marks.map((m) => m.parentNode));
    marks.forEach((m) => m.replaceWith(...m.childNodes));
    parents.forEach((p) => p.normalize());
    marks = []; now = -1;
  };
  const markNode = (text, pattern) => {
    const hits = [...text.data.matchAll(pattern)];
    for (const hit of hits.reverse()) {
      const tail = text.splitText(hit.index);
      tail.splitText(hit[0].length);
      const mark = document.createElement("mark");
      tail.replaceWith(mark);
      mark.append(tail);
    }
    return hits.length;
  };
  const show = () => {
    marks.forEach((m, i) => m.classList.toggle("now", i === now));
    found.textContent = query.value ? (marks.length ? `${now + 1} of ${marks.length}${marks.length >= most ? "+" : ""}` : "none") : "";
    $("before").disabled = $("after").disabled = marks.length === 0;
  };
  const step = (by) => {
    if (!marks.length) return;
    now = (now + by + marks.length) % marks.length;
    show();
    marks[now].scrollIntoView({ block: "center", inline: "nearest" });
  };
  const search = () => {
    unmark();
    const words = query.dataset.searched = query.value;
    if (words.trim()) {
      const pattern = new RegExp(words.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+"), "giu");
      let n = 0;
      for (const place of places) {
        const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
        const texts = [];
        while (walker.nextNode()) texts.push(walker.currentNode);
        for (const text of texts) if (n < most) n += markNode(text, pattern);
      }
      marks = all("mark");
      now = marks.length ? 0 : -1;
    }
    const quiet = (e) => Boolean(marks.length) && !e.querySelector("mark");
    all(".item").forEach((e) => e.classList.toggle("quiet", quiet(e)));
    nodes.forEach((n) => { const block = $(n.getAttribute("href").slice(1)); n.classList.toggle("quiet", Boolean(block) && quiet(block)); });
    show();
    if (marks.length) marks[0].scrollIntoView({ block: "center", inline: "nearest" });
  };
  query.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(search, 90); });
  form.addEventListener("submit", (event) => event.preventDefault());
  query.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      clearTimeout(timer);
      query.dataset.searched === query.value ? step(event.shiftKey ? -1 : 1) : search();
    } else if (event.key === "Escape") {
      query.value = ""; clearTimeout(timer); search(); query.blur();
    }
  });
  $("before").addEventListener("click", () => step(-1));
  $("after").addEventListener("click", () => step(1));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.metaKey || event.ctrlKey || event.altKey || event.target.closest?.("input, textarea, [contenteditable]")) return;
    event.preventDefault();
    query.focus();
    query.select();
  });
  show();
  if (location.hash) go($(location.hash.slice(1)));
})();
