"use strict";
// A drawing that one moves with the pointer, enlarges with the wheel, the keys + - 0 or the buttons, and thins out by
// hiding kinds of records. It works on the first svg of the class canvas, beside controls of the class tools.
(() => {
  const svg = document.querySelector(".canvas > svg"), tools = document.querySelector(".tools");
  if (!svg || !tools) return;
  const canvas = svg.parentElement, scale = tools.querySelector(".scale");
  const all = (selector) => [...svg.querySelectorAll(selector)];
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const least = 0.1, most = 4;
  let factor = 0; // 0: as wide as the page makes it
  const now = () => factor || svg.getBoundingClientRect().width / width;

  // zoom keeps the point of the drawing where it is that lies under x, y of the window.
  const zoom = (to, x, y) => {
    const frame = canvas.getBoundingClientRect();
    x ??= frame.left + frame.width / 2;
    y ??= frame.top + frame.height / 2;
    const before = svg.getBoundingClientRect(), share = [(x - before.left) / before.width, (y - before.top) / before.height];
    factor = Math.min(most, Math.max(least, to));
    canvas.classList.add("free");
    svg.style.setProperty("width", width * factor + "px", "important");
    svg.style.setProperty("height", height * factor + "px", "important");
    const after = svg.getBoundingClientRect();
    canvas.scrollLeft += after.left + share[0] * after.width - x;
    canvas.scrollTop += after.top + share[1] * after.height - y;
    say();
  };
  const whole = () => {
    const frame = canvas.getBoundingClientRect();
    const room = Math.max(200, Math.min(canvas.clientHeight || Infinity, innerHeight - 40));
    zoom(Math.min(1.5, (frame.width - 2) / width, (canvas.dataset.fill === "" ? room : Infinity) / height));
    canvas.scrollTo(0, 0);
  };
  const say = () => { scale.textContent = Math.round(100 * now()) + " %"; };

  tools.addEventListener("click", (event) => {
    const what = event.target.closest("[data-zoom]")?.dataset.zoom;
    if (what === "in") zoom(now() * 1.25);
    if (what === "out") zoom(now() / 1.25);
    if (what === "all") whole();
  });
  canvas.addEventListener("wheel", (event) => {
    if (canvas.dataset.fill !== "" && !event.ctrlKey && !event.metaKey) return; // the page scrolls
    event.preventDefault();
    zoom(now() * Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.clientX, event.clientY);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = { "+": () => zoom(now() * 1.25), "=": () => zoom(now() * 1.25), "-": () => zoom(now() / 1.25), 0: whole }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  // Moving: the drawing follows the pointer; a click on a node stays one.
  let from = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch" && canvas.dataset.fill !== "") return;
    from = { x: event.clientX, y: event.clientY, left: canvas.scrollLeft, top: canvas.scrollTop, moved: false };
  });
  addEventListener("pointermove", (event) => {
    if (!from) return;
    const dx = event.clientX - from.x, dy = event.clientY - from.y;
    if (!from.moved && Math.hypot(dx, dy) < 5) return;
    if (!from.moved) canvas.setPointerCapture?.(event.pointerId);
    from.moved = true;
    canvas.classList.add("dragged");
    canvas.scrollLeft = from.left - dx;
    canvas.scrollTop = from.top - dy;
  });
  const end = () => {
    const moved = from?.moved;
    from = null;
    canvas.classList.remove("dragged");
    if (moved) canvas.addEventListener("click", (event) => { event.preventDefault(); event.stopPropagation(); }, { capture: true, once: true });
    if (moved) setTimeout(() => canvas.dispatchEvent(new Event("click", { cancelable: true })));
  };
  addEventListener("pointerup", end);
  addEventListener("pointercancel", end);
  canvas.addEventListener("dragstart", (event) => event.preventDefault());

  // Kinds: a record of a hidden kind is gone, and so are the edges that lead to nothing else.
  const nodes = new Map(all(".g-node").map((n) => [n.dataset.node, n]));
  const counts = new Map();
  for (const n of nodes.values()) counts.set(n.dataset.kind, (counts.get(n.dataset.kind) || 0) + 1);
  const hidden = new Set();
  const gone = (node) => hidden.has(nodes.get(node)?.dataset.kind) && !nodes.get(node).classList.contains("g-marked");
  const hide = () => {
    for (const [id, n] of nodes) n.classList.toggle("g-gone", gone(id));
    for (const e of all("[data-edge]")) {
      const [first, ...others] = e.dataset.edge.split(" ");
      e.classList.toggle("g-gone", gone(first) || others.length > 0 && others.every(gone));
    }
    for (const f of all("[data-frame]")) f.classList.toggle("g-gone", f.dataset.frame.split(" ").every(gone));
  };
  const box = tools.querySelector(".kinds");
  if (counts.size > 1) {
    for (const [kind, count] of [...counts].sort()) {
      const label = document.createElement("label"), input = document.createElement("input"), number = document.createElement("span");
      input.type = "checkbox";
      input.checked = true;
      number.className = "faint num";
      number.textContent = count;
      label.append(input, kind, number);
      input.addEventListener("change", () => { input.checked ? hidden.delete(kind) : hidden.add(kind); hide(); });
      box.append(label);
    }
  }
  tools.hidden = false;
  if (canvas.dataset.fill === "") whole();
  say();
  addEventListener("resize", say);
  document.getElementById("fit")?.addEventListener("change", () => { // of a page that has the switch
    factor = 0;
    canvas.classList.remove("free");
    ["width", "height"].forEach((side) => svg.style.removeProperty(side));
    say();
  });
})();
