// The record of the node that was chosen stands beside the drawing.
(() => {
  const records = document.querySelector(".records"), svg = document.querySelector(".canvas > svg");
  const nodes = [...svg.querySelectorAll("a.g-node")];
  const edges = [...svg.querySelectorAll("[data-edge]")].map((e) => [e, e.dataset.edge.split(" ")]);
  records.classList.add("live");
  const show = (id) => {
    const record = id && document.getElementById(id);
    records.querySelectorAll(".at").forEach((r) => r.classList.remove("at"));
    record?.classList.add("at");
    records.scrollTop = 0;
    const chosen = nodes.find((n) => n.getAttribute("href") === "#" + id);
    svg.classList.toggle("busy", Boolean(chosen));
    for (const [e, ends] of edges) e.classList.toggle("on", Boolean(chosen) && ends.includes(chosen.dataset.node));
    nodes.forEach((n) => n.classList.toggle("chosen", n === chosen));
  };
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented) return;
    const link = event.target.closest?.("a[href^='#']");
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    const id = link.getAttribute("href").slice(1);
    try { history.pushState(null, "", "#" + id); } catch { /* a page from a file may not */ }
    show(id);
  });
  addEventListener("popstate", () => show(location.hash.slice(1)));
  show(location.hash.slice(1) || nodes[0]?.getAttribute("href").slice(1));
})();
