// Drives the packaged extension in a real VS Code in a real browser: keys are pressed, and what is on
// the screen is read.
//
//   node browser.mjs HOST PROGRAM VSIX VAULT [SCREENS]
//
// HOST is a folder in which host/package.json is installed. PROGRAM is ctxd; the environment
// names its daemon. Every step prints a line, or the program
// fails. Pictures go to SCREENS, if it is given.
import { spawn, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";

const [host, program, vsix, vault, screens] = process.argv.slice(2);
const require = createRequire(join(resolve(host), "x.js"));
const { chromium } = require("playwright-core");
const patience = 60_000;

const main = join(resolve(host), "node_modules/code-server/lib/vscode/out/server-main.js");
const data = mkdtempSync(join(tmpdir(), "ctxd-vscode-host-"));

/** Starts the server and returns its process and address. */
async function serve() {
  // What the person's settings say, such as that nothing is asked about trust.
  mkdirSync(join(data, "data", "User"), { recursive: true });
  writeFileSync(join(data, "data", "User", "settings.json"), JSON.stringify({
    "security.workspace.trust.enabled": false,
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": false,
    "telemetry.telemetryLevel": "off",
    "files.autoSave": "off",
    "workbench.colorTheme": "Default Light Modern",
    "editor.minimap.enabled": false,
    "chat.commandCenter.enabled": false,
  }));
  // VS Code takes $PATH from a login shell, which doesn't know of the program under test.
  mkdirSync(join(data, "data", "Machine"), { recursive: true });
  writeFileSync(join(data, "data", "Machine", "settings.json"), JSON.stringify({ "ctxd.program": program }));
  execFileSync(process.execPath, [main, "--install-extension", resolve(vsix), "--server-data-dir", data], { stdio: "ignore" });
  const server = spawn(process.execPath, [main, "--host", "127.0.0.1", "--port", "0", "--without-connection-token",
    "--accept-server-license-terms", "--server-data-dir", data, "--telemetry-level", "off"], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const port = await new Promise((done, fail) => {
    const listen = (chunk) => {
      said += chunk;
      const found = /Extension host agent listening on (\d+)/.exec(said);
      if (found) done(found[1]);
    };
    server.stdout.on("data", listen);
    server.stderr.on("data", listen);
    server.once("exit", () => fail(new Error(`VS Code does not start:\n${said}`)));
  });
  return { server, at: `http://127.0.0.1:${port}/?folder=${encodeURIComponent(resolve(vault))}`, said: () => said };
}

let page;

async function picture(name) {
  if (screens) await page.screenshot({ path: join(screens, `vscode-${name}.png`) });
}

function ok(step, text = "") {
  console.log(`ok ${step}${text && `: ${text}`}`);
}

/** Opens the palette, types and presses Enter. */
async function palette(text) {
  await page.keyboard.press("F1");
  await page.locator(".quick-input-widget input").first().waitFor();
  await page.keyboard.type(text);
  await page.locator(".quick-input-list .monaco-list-row").filter({ hasText: text }).first().waitFor();
  await page.keyboard.press("Enter");
}

/** Opens a note by its path in the vault. */
async function open(path) {
  await page.keyboard.press("Control+o");
  const input = page.locator(".quick-input-widget input").first();
  await input.waitFor();
  // The dialog lists a folder first, and then takes what is typed.
  await page.locator(".quick-input-list").getByText("..", { exact: true }).first().waitFor();
  await input.fill(join(resolve(vault), path));
  await page.locator(".quick-input-list .monaco-list-row").filter({ hasText: basename(path) }).first().waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".tab.active").filter({ hasText: basename(path) }).waitFor();
}

async function showsHealth() {
  const item = page.locator(".statusbar-item").filter({ hasText: /ctxd: \d+ notes/ });
  await item.waitFor();
  ok("status", await item.innerText());
}

async function showsTree() {
  await palette("ctxd: Show Related Notes");
  const rows = page.locator(".pane-body .monaco-list-row");
  await rows.filter({ hasText: "Backlinks" }).waitFor();
  await rows.filter({ hasText: "Alpha Design Review" }).first().waitFor();
  await rows.filter({ hasText: "Related" }).first().waitFor();
  await picture("tree");
  ok("tree", (await rows.allInnerTexts()).slice(0, 4).map((text) => text.replace(/\s+/g, " ").trim()).join(" | "));
  await rows.filter({ hasText: "Letter From A Stranger" }).first().click();
  await page.locator(".tab.active").filter({ hasText: "Letter From A Stranger" }).waitFor();
  ok("backlink opens");
}

async function completes() {
  await open("Journal/2025-03-04.md");
  await shows("Kickoff day."); // the tab is there before the text
  await page.keyboard.press("Control+End");
  await page.keyboard.press("Enter");
  await page.keyboard.type("see [[Project Al", { delay: 30 });
  const menu = page.locator(".suggest-widget.visible .monaco-list-row");
  // The language server may start later than the editor, and the list of fewer letters may be there first.
  const complete = async () => {
    await menu.filter({ hasText: "Project Alpha Kickoff" }).waitFor({ timeout: 5000 });
    await menu.filter({ hasText: "Project Grove" }).waitFor({ state: "detached", timeout: 5000 });
  };
  for (let tries = 12; ; tries--) {
    try {
      await complete();
      break;
    } catch (err) {
      if (tries === 0) throw err;
      await page.keyboard.press("Escape");
      await page.keyboard.press("Control+Space");
    }
  }
  await picture("completion");
  const items = (await menu.allInnerTexts()).map((text) => text.replace(/\s+/g, " ").trim());
  await page.keyboard.press("ArrowDown");
  await menu.and(page.locator(".focused")).filter({ hasText: "Project Alpha Kickoff" }).waitFor();
  await page.keyboard.press("Tab");
  await shows("see [[Project Alpha Kickoff]]");
  ok("completion", items.slice(0, 3).join(" | "));
  // The brackets that the editor had closed are not written twice, and the cursor stands behind them.
  await page.keyboard.type(", and on.");
  await shows("see [[Project Alpha Kickoff]], and on.");
  await picture("completed");
  ok("typing goes on");
}

/** Waits for a line of the editor; it has blanks of its own kind. */
async function shows(text) {
  await page.locator(".view-line").filter({ hasText: text }).first().waitFor();
}

/** Renames the note of a link. The test looks at the files. */
async function renames() {
  await open("Journal/2025-03-04.md");
  await shows("Kickoff day.");
  await page.keyboard.press("Control+g");
  await page.locator(".quick-input-widget input").first().waitFor();
  await page.keyboard.type("8:45");
  await page.keyboard.press("Enter");
  await page.keyboard.press("F2");
  const name = page.locator(".rename-box input").first();
  await name.waitFor();
  const old = await name.inputValue();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("Alpha Start");
  await picture("rename");
  await page.keyboard.press("Enter");
  await shows("see [[Alpha Start]], and on.");
  await page.locator(".tab").filter({ hasText: "Alpha Start.md" }).first().waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.press("s");
  await page.waitForFunction(() => !document.querySelector(".tab.dirty"));
  await picture("renamed");
  ok("rename", old);
}

async function searches() {
  await palette("ctxd: Search by Meaning");
  await page.getByPlaceholder("Words or a question").waitFor();
  await page.keyboard.type("how heavy is the scale");
  const rows = page.locator(".quick-input-list .monaco-list-row");
  await rows.filter({ hasText: "D-8 One calibration table per scale" }).first().waitFor();
  await picture("search");
  ok("search", (await rows.first().innerText()).split("\n")[0]);
  await page.keyboard.press("Escape");
}

async function showsPrompt() {
  await open("Meetings/Project Alpha Kickoff.md");
  await palette("ctxd: Show the Prompt");
  await page.locator(".quick-input-message").filter({ hasText: "A message" }).waitFor();
  await page.keyboard.type("what did @Alice decide?");
  await page.keyboard.press("Enter");
  const frame = page.frameLocator("iframe.webview").frameLocator("#active-frame");
  await frame.getByRole("heading", { name: "what did @Alice decide?" }).waitFor();
  await picture("prompt");
  // The page's own script runs: it counts what it finds.
  await frame.getByPlaceholder("Search the prompt").fill("Engineering Manager");
  await frame.locator("#found").filter({ hasText: /\d/ }).waitFor();
  ok("webview", await frame.locator("#found").innerText());
}

async function draws() {
  await page.locator(".tab").filter({ hasText: "Project Alpha Kickoff.md" }).click();
  await palette("ctxd: Show the Graph");
  await page.locator(".tab").filter({ hasText: "Graph: Project Alpha Kickoff" }).waitFor();
  await page.locator("iframe.webview").nth(1).waitFor();
  const drawing = page.frameLocator("iframe.webview >> nth=1").frameLocator("#active-frame");
  await drawing.locator("svg").first().waitFor();
  await picture("graph");
  ok("graph");
}

async function asks() {
  await palette("ctxd: Ask");
  await page.locator(".quick-input-message").filter({ hasText: "A question" }).waitFor();
  await page.keyboard.type("Who came?");
  await page.keyboard.press("Enter");
  await page.locator(".editor-group-container .view-line").filter({ hasText: /Nobody.answers/ }).first().waitFor();
  await picture("ask");
  ok("ask");
}

async function remembers() {
  await palette("ctxd: Remember");
  await page.locator(".quick-input-message").filter({ hasText: "A statement" }).waitFor();
  await page.keyboard.type("The kettle is red.");
  await page.keyboard.press("Enter");
  const told = page.locator(".notification-list-item").filter({ hasText: "Remembered as #" });
  await told.first().waitFor();
  ok("remember", (await told.first().innerText()).split("\n")[0]);
}

const { server, at, said } = await serve();
let browser;
try {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--lang=en-US"],
  });
  page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(patience);
  await page.goto(at);
  await page.locator(".monaco-workbench").waitFor();
  await open("Meetings/Project Alpha Kickoff.md");
  await showsHealth();
  await showsTree();
  await completes();
  await searches();
  await showsPrompt();
  await draws();
  await asks();
  await remembers();
  await renames();
} catch (err) {
  await picture("failure").catch(() => undefined);
  console.error(await page?.locator(".statusbar-item[id^='ctxd']").getAttribute("aria-label", { timeout: 1000 }).catch(() => "no item of ctxd"));
  console.error(said().split("\n").slice(-20).join("\n"));
  console.error(err);
  process.exitCode = 1;
} finally {
  await browser?.close();
  server.kill();
  rmSync(data, { recursive: true, force: true });
}
