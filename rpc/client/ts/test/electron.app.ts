import assert from "node:assert/strict";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { connect } from "ctxd-client";
import { Browser, chromium, type Tab } from "./chromium.js";
import { failure, home, program } from "./daemon.js";
import { app, host, type BrowserWindow } from "./electron.js";
import { startModel, type Model } from "./model.js";

// The example as it was built, run in this process and in a page of Chromium.
const example = new URL("../examples/electron/dist/", import.meta.url);
const pictures = process.env["CTXD_PICTURES"]; // a folder for screenshots

let model: Model;
let at: Awaited<ReturnType<typeof home>>;
let folder: string;
let window: BrowserWindow;
let tab: Tab;

before(async () => {
  const browser = chromium();
  assert.ok(browser, "there is no chromium");
  model = await startModel();
  at = await home();
  Object.assign(process.env, at.env, model.settings, { CTXD_BIN: program });
  host.browser = await Browser.start(browser);

  const vault = join(at.dir, "Notes");
  await mkdir(vault);
  await writeFile(join(vault, "Kickoff.md"), "# Kickoff\n\nGoals: ship the first milestone by June. See [[Budget]].\n");
  await writeFile(join(vault, "Budget.md"), "# Budget\n\nForty thousand for the year, half of it for the <b>harbor</b> survey.\n");
  await writeFile(join(vault, "Garden.md"), "# Garden\n\nBeans and peas want a trellis. Water in the evening.\n");
  process.argv = [process.execPath, "electron", vault];

  // The main process imports electron: ours is what it finds.
  folder = await mkdtemp(join(tmpdir(), "ctxd-app-"));
  await cp(fileURLToPath(example), join(folder, "dist"), { recursive: true });
  const stand = join(folder, "node_modules", "electron");
  await mkdir(stand, { recursive: true });
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  await writeFile(join(stand, "package.json"), '{"type":"module","main":"index.js"}');
  await writeFile(join(stand, "index.js"), `export * from ${JSON.stringify(new URL("./electron.js", import.meta.url).href)};`);
  await import(pathToFileURL(join(folder, "dist", "main.js")).href);
  window = await host.window;
  tab = window.tab;
});

after(async () => {
  await host.browser?.close();
  model.stop();
  await rm(folder, { recursive: true });
  await rm(at.dir, { recursive: true });
});

async function picture(name: string): Promise<void> {
  for (const scheme of ["light", "dark"] as const) {
    const png = await tab.screenshot(scheme);
    assert.ok(png.length > 10_000);
    if (pictures) {
      await writeFile(join(pictures, `${name}-${scheme}.png`), png);
    }
  }
}

const text = (selector: string) => `document.querySelector(${JSON.stringify(selector)}).textContent`;

test("CLI-5: the page has the bridge, and neither Node nor what the preload script holds", async () => {
  const found = await tab.evaluate(`JSON.stringify(["require", "process", "module", "Buffer", "toMain", "fromMain"].filter((name) => name in globalThis))`);
  assert.equal(found, "[]");
  assert.equal(await tab.evaluate("Object.keys(window.ctxd).join()"), "open");
  await tab.until(`${text("#state")}.endsWith("started by this app")`);
});

test("CLI-5: the page searches as somebody types, and reads a note as text", async () => {
  await tab.until(`${text("#hits")} === "Notes: 3 notes"`);
  await tab.click("#query");
  await tab.type("harbor");
  await tab.until(`${text("#hits")}.startsWith("Budget")`);
  await tab.until(`document.querySelector("#hits mark")?.textContent === "harbor"`);
  await tab.click("#hits li:first-child button");
  await tab.until(`${text("#note")}.includes("<b>harbor</b>")`); // not made bold
});

test("CLI-5: changes of notes reach the page", async () => {
  const ctxd = await connect({ path: at.path });
  await ctxd.call("notes.put", { id: "new", title: "Lighthouse", body: "Beside the harbor." });
  await tab.until(`${text("#hits")}.includes("Lighthouse")`);
  await ctxd.close();
});

test("CLI-5: an answer comes piece by piece, with what it stands on", async () => {
  await tab.click("#text");
  await tab.type("What does [[Kickoff]] say of the <i>goals</i>?");
  await tab.press("Enter", 13);
  await tab.until(`document.querySelector(".assistant .sources button")?.textContent === "Kickoff"`);
  // A warning may stand before it, such as one of a search that took too long.
  assert.match(String(await tab.evaluate(text(".assistant"))), /What does \[\[Kickoff\]\] say of the <i>goals<\/i>\?/);
  await tab.click(".assistant .sources button");
  await tab.until(`${text("#note")}.includes("first milestone by June")`);
  await picture("chat");
});

test("CLI-5: Stop stops an answer", async () => {
  const left = model.hungUp("wait for me");
  await tab.click("#text");
  await tab.type("wait for me");
  await tab.press("Enter", 13);
  await tab.until(`${text(".assistant:last-child")}.startsWith("wait for me")`);
  await tab.click("#stop");
  await left;
  await tab.until(`${text(".assistant:last-child")}.endsWith("(stopped)")`);
  assert.equal(await tab.evaluate(`document.querySelector("#send").hidden`), false);
});

test("CLI-5: a daemon that dies is started again under the page", async () => {
  const ctxd = await connect({ path: at.path });
  const { pid } = await ctxd.call("admin.health");
  await tab.evaluate(`void (globalThis.states = [], new MutationObserver(() => states.push(${text("#state")})).observe(
    document.querySelector("#state"), { childList: true }))`);
  process.kill(pid, "SIGKILL");
  await ctxd.closed;
  await tab.until(`states.some((s) => s.startsWith("Restarting")) && states.at(-1).endsWith("started by this app")`);
  await tab.evaluate(`void (document.querySelector("#query").value = "")`);
  await tab.click("#query");
  await tab.type("trellis");
  await tab.until(`document.querySelector("#hits mark")?.textContent === "trellis"`);
});

test("CLI-5: a page that is loaded anew has a new way, and the old one is closed", async () => {
  await window.reload();
  await tab.until(`${text("#hits")} === "Notes: 3 notes"`);
  const ctxd = await connect({ path: at.path, name: "watch" });
  const names = async () => (await ctxd.call("admin.connections")).connections.map(({ client }) => client?.name);
  while ((await names()).length > 3); // ours, that of the main process and that of the page
  await ctxd.close();
  assert.deepEqual(tab.problems, []);
});

test("CLI-5: the daemon quits with the app", async () => {
  await window.close();
  await host.exited;
  assert.equal((await failure(connect({ path: at.path }))).retryable, true);
  assert.equal(app.listenerCount("will-quit"), 1);
});
