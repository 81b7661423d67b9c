// A stand-in for Electron, as far as the example uses it: the main process is
// this one, a window is a tab of a headless Chromium. The page and its preload
// script run as they would: the script in an isolated world of its own, with
// real ports. contextBridge, and the way of a port to the main process, are
// imitated.
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

import { Browser, type Tab } from "./chromium.js";

/** The browser, and what the app under test does: its first window, or why there is none, and its end. */
export const host: { browser: Browser | undefined; window: Promise<BrowserWindow>; exited: Promise<void> } = {
  browser: undefined,
  window: new Promise((resolve, reject) => setImmediate(() => (app.opened = (window) => window.then(resolve, reject)))),
  exited: new Promise((resolve) => setImmediate(() => (app.exit = resolve))),
};

class App extends EventEmitter {
  isPackaged = false;
  exit: () => void = () => undefined;
  opened: (window: Promise<BrowserWindow>) => void = () => undefined;
  getName = () => "electron-example";
  getVersion = () => "0.1.0";
  whenReady = () => Promise.resolve();
  quit(): void {
    let prevented = false;
    this.emit("will-quit", { preventDefault: () => (prevented = true) });
    if (!prevented) {
      this.exit();
    }
  }
}

export const app = new App();
export const ipcMain = new EventEmitter();

// The main process's end of a channel whose other end is in a page.
class MessagePortMain extends EventEmitter {
  readonly #post: (message: unknown) => void;
  constructor(post: (message: unknown) => void) {
    super();
    this.#post = post;
  }
  start(): void {}
  close(): void {}
  postMessage(message: unknown): void {
    this.#post(message);
  }
}

interface WindowOptions {
  width: number;
  height: number;
  webPreferences: { preload: string; contextIsolation: boolean; sandbox: boolean; nodeIntegration: boolean };
}

const world = "Electron Isolated Context";

export class BrowserWindow {
  tab!: Tab;
  readonly webContents = Object.assign(new EventEmitter(), { setWindowOpenHandler(): void {} });
  readonly #options: WindowOptions;
  readonly #ports = new Map<number, MessagePortMain>();
  #context = 0; // of the preload script
  #url = "";

  constructor(options: WindowOptions) {
    const { contextIsolation, sandbox, nodeIntegration } = options.webPreferences;
    assert.deepEqual({ contextIsolation, sandbox, nodeIntegration }, { contextIsolation: true, sandbox: true, nodeIntegration: false });
    this.#options = options;
  }

  loadFile(path: string): Promise<void> {
    const loaded = this.#load(path);
    app.opened(loaded.then(() => this));
    return loaded;
  }

  async #load(path: string): Promise<void> {
    const { width, height, webPreferences } = this.#options;
    const preload = await readFile(webPreferences.preload, "utf8");
    this.tab = await host.browser!.open(width, height);
    this.#url = pathToFileURL(path).href;
    this.tab.on("Runtime.executionContextCreated", ({ context }) => {
      if (context.name === world) {
        this.#end();
        this.#context = context.id;
      }
    });
    this.tab.on("Runtime.executionContextDestroyed", ({ executionContextId }) => executionContextId === this.#context && this.#end());
    this.tab.on("Runtime.bindingCalled", ({ payload }) => this.#take(JSON.parse(payload)));
    await this.tab.send("Runtime.addBinding", { name: "toMain", executionContextName: world });
    await this.tab.send("Page.addScriptToEvaluateOnNewDocument", { source: `(${crossing})("page")` });
    const module = `(function (require) {${preload}})(() => ({
      contextBridge: { exposeInMainWorld: (${crossing})("preload") },
      ipcRenderer: (${ipc})(),
    }))`;
    await this.tab.send("Page.addScriptToEvaluateOnNewDocument", { source: module, worldName: world });
    await this.tab.goto(this.#url);
  }

  async reload(): Promise<void> {
    await this.tab.goto(this.#url);
  }

  async close(): Promise<void> {
    await this.tab.close();
    this.#end();
    app.emit("window-all-closed");
  }

  #take({ port, channel, data, closed }: { port: number; channel?: string; data?: unknown; closed?: boolean }): void {
    if (channel !== undefined) {
      const own = new MessagePortMain((message) => {
        const expression = `fromMain(${port}, ${JSON.stringify(message)})`;
        this.tab.send("Runtime.evaluate", { expression, contextId: this.#context }).catch(() => undefined);
      });
      this.#ports.set(port, own);
      ipcMain.emit(channel, { ports: [own], senderFrame: { url: this.#url, parent: null } });
    } else if (closed) {
      this.#ports.get(port)?.emit("close");
    } else {
      this.#ports.get(port)?.emit("message", { data, ports: [] });
    }
  }

  // end is the end of a page: its ports go with it.
  #end(): void {
    this.#ports.forEach((port) => port.emit("close"));
    this.#ports.clear();
  }
}

// ipc is ipcRenderer in the isolated world: its port's other end is bound to
// the main process.
const ipc = `() => {
  const ports = new Map();
  globalThis.fromMain = (number, message) => ports.get(number).postMessage(message);
  return {
    postMessage(channel, message, [port]) {
      const number = ports.size + 1;
      ports.set(number, port);
      port.onmessage = ({ data }) => toMain(JSON.stringify({ port: number, data }));
      port.addEventListener("close", () => toMain(JSON.stringify({ port: number, closed: true })));
      toMain(JSON.stringify({ port: number, channel }));
    },
  };
}`;

// crossing lets functions of one world be called in the other, by events, which
// carry texts alone: as contextBridge does, it copies values and wraps
// functions. On the side of the page it makes what was exposed a property of
// window; on that of the preload script it returns exposeInMainWorld.
const crossing = `(side) => {
  const other = side === "page" ? "preload" : "page";
  const functions = [];
  let answer;
  const wrap = (value) =>
    typeof value === "function" ? { f: functions.push(value) - 1 }
    : value && typeof value === "object" ? { o: Object.fromEntries(Object.entries(value).map(([k, v]) => [k, wrap(v)])) }
    : { v: value };
  const unwrap = ({ f, o, v }) =>
    f !== undefined ? (...args) => {
      send("call", { f, args: args.map(wrap) });
      return unwrap(answer);
    }
    : o ? Object.fromEntries(Object.entries(o).map(([k, v]) => [k, unwrap(v)]))
    : v;
  const send = (what, detail) => window.dispatchEvent(new CustomEvent("crossing:" + what + ":" + other, { detail: JSON.stringify(detail) }));
  const on = (what, run) => window.addEventListener("crossing:" + what + ":" + side, ({ detail }) => run(JSON.parse(detail)));
  on("call", ({ f, args }) => send("answer", wrap(functions[f](...args.map(unwrap)))));
  on("answer", (value) => (answer = value));
  if (side === "page") {
    on("expose", ({ name, api }) => (window[name] ??= unwrap(api)));
    send("ready", null);
    return undefined;
  }
  return (name, api) => {
    const detail = { name, api: wrap(api) };
    on("ready", () => send("expose", detail)); // whichever world comes first
    send("expose", detail);
  };
}`;
