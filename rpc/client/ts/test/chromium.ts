import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { EventEmitter } from "node:events";

/** The Chromium of this machine: $CHROMIUM, else the first in $PATH; undefined without one. */
export function chromium(): string | undefined {
  if (process.env["CHROMIUM"]) {
    return process.env["CHROMIUM"];
  }
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const names = ["chromium", "chromium-browser", "google-chrome"];
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

interface Reply {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  sessionId?: string;
  result?: Record<string, unknown>;
  error?: { message: string };
}

/** A headless Chromium, spoken to by the DevTools protocol over pipes. */
export class Browser {
  readonly #child: ChildProcess;
  readonly #profile: string;
  readonly #calls = new Map<number, { resolve(result: Record<string, unknown>): void; reject(err: Error): void }>();
  readonly #tabs = new Map<string, Tab>();
  #lastId = 0;

  private constructor(child: ChildProcess, profile: string) {
    this.#child = child;
    this.#profile = profile;
    let rest = "";
    (child.stdio[4] as Readable).setEncoding("utf8").on("data", (chunk: string) => {
      const messages = (rest + chunk).split("\0");
      rest = messages.pop() ?? "";
      messages.forEach((message) => this.#take(JSON.parse(message) as Reply));
    });
    child.once("close", () => this.#calls.forEach(({ reject }) => reject(new Error("Chromium has ended"))));
  }

  static async start(program: string): Promise<Browser> {
    const profile = await mkdtemp(join(tmpdir(), "ctxd-chromium-"));
    const child = spawn(program, [
      "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
      `--user-data-dir=${profile}`, "about:blank",
    ], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    return new Browser(child, profile);
  }

  /** Opens a tab with an empty page. */
  async open(width = 1100, height = 760): Promise<Tab> {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const tab = new Tab(this, sessionId as string, targetId as string);
    this.#tabs.set(sessionId as string, tab);
    for (const domain of ["Page", "Runtime", "Log"]) {
      await tab.send(`${domain}.enable`);
    }
    await tab.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
    return tab;
  }

  send(method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject });
      (this.#child.stdio[3] as Writable).write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    });
  }

  async close(): Promise<void> {
    const ended = once(this.#child, "close");
    this.#child.kill("SIGKILL");
    await ended;
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  #take({ id, method, params, sessionId, result, error }: Reply): void {
    if (id === undefined) {
      this.#tabs.get(sessionId ?? "")?.emit(method ?? "", params);
      return;
    }
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (error === undefined) {
      call?.resolve(result ?? {});
    } else {
      call?.reject(new Error(error.message));
    }
  }
}

/** A tab; it emits the events of the DevTools protocol by their names. */
export class Tab extends EventEmitter {
  /** What the page said on its console, or was refused. */
  readonly problems: string[] = [];
  readonly #browser: Browser;
  readonly #session: string;
  readonly #target: string;

  constructor(browser: Browser, session: string, target: string) {
    super();
    this.#browser = browser;
    this.#session = session;
    this.#target = target;
    this.on("Runtime.exceptionThrown", ({ exceptionDetails: { exception, text } }) => this.problems.push(exception?.description ?? text));
    this.on("Log.entryAdded", ({ entry }) => entry.level === "error" && this.problems.push(entry.text));
  }

  send(method: string, params: object = {}): Promise<Record<string, unknown>> {
    return this.#browser.send(method, params, this.#session);
  }

  async goto(url: string): Promise<void> {
    const loaded = once(this, "Page.loadEventFired");
    await this.send("Page.navigate", { url });
    await loaded;
  }

  /** Evaluates an expression in the world of the page; a promise is waited for. */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = (await this.send("Runtime.evaluate", {
      expression, awaitPromise: true, returnByValue: true,
    })) as { result: { value?: unknown }; exceptionDetails?: { exception?: { description?: string } } };
    if (exceptionDetails !== undefined) {
      throw new Error(exceptionDetails.exception?.description ?? "the page has thrown");
    }
    return result.value;
  }

  /** Waits until an expression is true: it is looked at whenever the page changes. */
  async until(expression: string): Promise<void> {
    await this.evaluate(`new Promise((resolve, reject) => {
      const late = () => reject(new Error(${JSON.stringify(expression)} + " stays false:\\n" + document.body.innerText));
      const timer = setTimeout(late, 50_000);
      const look = () => { if (${expression}) { watch.disconnect(); clearTimeout(timer); resolve(); } };
      const watch = new MutationObserver(look);
      watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      look();
    })`);
  }

  /** Types a text into what has the focus. */
  async type(text: string): Promise<void> {
    await this.send("Input.insertText", { text });
  }

  async press(key: string, code: number): Promise<void> {
    const params = { key, code: key, windowsVirtualKeyCode: code, ...(key === "Enter" && { text: "\r" }) };
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", ...params });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...params });
  }

  /** Clicks into the middle of an element. */
  async click(selector: string): Promise<void> {
    const { x, y } = (await this.evaluate(`(() => {
      const { x, y, width, height } = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
      return { x: x + width / 2, y: y + height / 2 };
    })()`)) as { x: number; y: number };
    for (const type of ["mousePressed", "mouseReleased"]) {
      await this.send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
    }
  }

  /** A picture of the page, PNG. */
  async screenshot(scheme: "light" | "dark"): Promise<Buffer> {
    await this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    const { data } = await this.send("Page.captureScreenshot", { format: "png" });
    return Buffer.from(data as string, "base64");
  }

  async close(): Promise<void> {
    await this.#browser.send("Target.closeTarget", { targetId: this.#target });
  }
}
