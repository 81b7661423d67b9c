// A stand-in for Obsidian, as far as the plugin uses it, over a document of
// happy-dom. It says nothing of how the app looks or behaves otherwise.
import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, extname, join } from "node:path";

import { Window, type HTMLElement } from "happy-dom";

const window = new Window({ url: "app://obsidian.md/" });
export const { document } = window;

interface ElementOptions {
  cls?: string;
  text?: string;
  href?: string;
  type?: string;
  attr?: Record<string, string>;
}

/** An element, with what the app adds to every one. */
interface El extends HTMLElement {
  createEl(tag: string, options?: ElementOptions): El;
  createDiv(options?: ElementOptions): El;
  createSpan(options?: ElementOptions): El;
  setText(text: string): void;
}

const additions = {
  createEl(this: El, tag: string, { cls, text, href, type, attr = {} }: ElementOptions = {}) {
    const el = document.createElement(tag);
    const given = { ...attr, ...(cls && { class: cls }), ...(href && { href }), ...(type && { type }) };
    Object.entries(given).forEach(([name, value]) => el.setAttribute(name, value));
    el.append(text ?? "");
    this.append(el);
    return el as El;
  },
  createDiv(this: El, options?: ElementOptions) {
    return this.createEl("div", options);
  },
  createSpan(this: El, options?: ElementOptions) {
    return this.createEl("span", options);
  },
  appendText(this: HTMLElement, text: string) {
    this.append(text);
  },
  setText(this: HTMLElement, text: string) {
    this.replaceChildren(text);
  },
  empty(this: HTMLElement) {
    this.replaceChildren();
  },
  addClass(this: HTMLElement, name: string) {
    this.classList.add(name);
  },
  hide(this: HTMLElement) {
    this.style.display = "none";
  },
  show(this: HTMLElement) {
    this.style.display = "";
  },
};
Object.assign(window.HTMLElement.prototype, additions);

const element = () => document.createElement("div") as El;

/** A wait for what the document shows, or the app was told. */
export async function until(condition: () => boolean, of: string): Promise<void> {
  if (condition()) {
    return;
  }
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${of} does not happen:\n${document.body.textContent}`)), 50_000);
    const look = () => {
      if (condition()) {
        clearTimeout(late);
        watch.disconnect();
        app.told.off("told", look);
        resolve();
      }
    };
    const watch = new window.MutationObserver(look);
    watch.observe(document.body, { childList: true, subtree: true, characterData: true, attributes: true });
    app.told.on("told", look);
  });
}

class TFile {
  readonly basename: string;
  readonly extension: string;
  constructor(readonly path: string) {
    this.extension = extname(path).slice(1);
    this.basename = basename(path, extname(path));
  }
}

class FileSystemAdapter {
  constructor(readonly folder: string) {}
  getBasePath = () => this.folder;
}

class Leaf {
  view: ItemView | undefined;
  async setViewState({ type }: { type: string }): Promise<void> {
    this.view ??= app.views.get(type)?.(this);
    if (this.view && !this.view.contentEl.isConnected) {
      document.body.append(this.view.contentEl);
      await this.view.onOpen();
    }
  }
}

/** The app. */
export const app = {
  told: new EventEmitter(),
  views: new Map<string, (leaf: Leaf) => ItemView>(),
  leaves: [] as Leaf[],
  /** The links that were opened. */
  opened: [] as string[],
  clipboard: "",
  file: null as TFile | null,
  vault: { adapter: new FileSystemAdapter("") },
  workspace: Object.assign(new EventEmitter(), {
    getActiveFile: () => app.file,
    getLeavesOfType: (type: string) => app.leaves.filter(({ view }) => view?.getViewType() === type),
    getRightLeaf(): Leaf {
      const leaf = new Leaf();
      app.leaves.push(leaf);
      return leaf;
    },
    revealLeaf: async () => undefined,
    trigger: () => undefined,
    async openLinkText(text: string): Promise<void> {
      app.opened.push(text);
      app.told.emit("told");
    },
  }),
  /** Opens a note of the vault. */
  open(path: string): void {
    app.file = new TFile(path);
    app.workspace.emit("file-open", app.file);
  },
};

class Component {
  readonly cleanups: (() => void)[] = [];
  register = (run: () => void) => void this.cleanups.push(run);
  registerEvent = () => undefined;
}

/** A pane. */
export abstract class ItemView extends Component {
  readonly app = app;
  readonly contentEl = element();
  readonly actions = new Map<string, () => void>();
  constructor(readonly leaf: Leaf) {
    super();
  }
  addAction = (_: string, title: string, run: () => void) => void this.actions.set(title, run);
  abstract getViewType(): string;
  abstract onOpen(): Promise<void>;
}

interface Command {
  id: string;
  callback?: () => void;
  checkCallback?: (checking: boolean) => boolean;
}

class Plugin extends Component {
  readonly commands = new Map<string, Command>();
  tab: { display(): void; containerEl: El } | undefined;
  constructor(readonly app: object, readonly manifest: { version: string }) {
    super();
  }
  data: unknown = null;
  loadData = async () => this.data;
  saveData = async (data: unknown) => void (this.data = structuredClone(data));
  registerView = (type: string, make: (leaf: Leaf) => ItemView) => void app.views.set(type, make);
  registerHoverLinkSource = () => undefined;
  addRibbonIcon = () => undefined;
  addSettingTab = (tab: NonNullable<Plugin["tab"]>) => void (this.tab = tab);
  addCommand = (command: Command) => void this.commands.set(command.id, command);
  /** Runs a command; false when it does not apply. */
  run(id: string): boolean {
    const { callback, checkCallback } = this.commands.get(id)!;
    callback?.();
    return checkCallback === undefined || (checkCallback(true) && (checkCallback(false), true));
  }
}

class PluginSettingTab {
  readonly containerEl = element();
  constructor() {
    document.body.append(this.containerEl);
  }
}

class Control {
  disabled = false;
  constructor(readonly el: HTMLElement) {}
  setPlaceholder = () => this;
  setLimits = () => this;
  setIcon = () => this;
  setTooltip = () => this;
  setCta = () => this;
  setDisabled = () => this;
  setValue = (value: unknown) => (this.el.setAttribute("value", String(value)), this);
  setButtonText = (text: string) => (this.el.append(text), this);
  onChange = (run: (value: never) => void) => (this.el.addEventListener("change", (event) => run((event as unknown as { detail: { value: never } }).detail.value)), this);
  onClick = (run: () => void) => (this.el.addEventListener("click", run), this);
}

class Setting {
  readonly el: El;
  readonly desc: El;
  constructor(parent: El) {
    this.el = parent.createDiv({ cls: "setting-item" });
    this.desc = this.el.createDiv({ cls: "setting-item-description" });
  }
  setName = (name: string) => (this.el.setAttribute("data-name", name), this.el.prepend(name), this);
  setDesc = (text: string) => (this.desc.setText(text), this);
  #add = (tag: string) => (make: (control: Control) => void) => (make(new Control(this.el.createEl(tag))), this);
  addText = this.#add("input");
  addSlider = this.#add("input");
  addToggle = this.#add("input");
  addButton = this.#add("button");
  addExtraButton = this.#add("button");
}

class Notice {
  readonly el = element();
  constructor(message: string) {
    this.el.className = "notice";
    this.el.append(message);
    document.body.append(this.el);
  }
  setMessage = (message: string) => this.el.setText(message);
  hide = () => undefined; // it stays, for the tests to see
}

/** The modals that were opened. */
export const modals: SuggestModal[] = [];

class SuggestModal {
  readonly inputEl = document.createElement("input");
  constructor(readonly app: object) {}
  setPlaceholder = () => undefined;
  setInstructions = () => undefined;
  open(): void {
    modals.push(this);
    app.told.emit("told");
  }
  onClose(): void {}
  declare getSuggestions: (query: string) => Promise<{ title: string; path: string }[]>;
  declare renderSuggestion: (found: object, el: El) => void;
  declare onChooseSuggestion: (found: object, event: object) => void;
}

const obsidian = {
  FileSystemAdapter, ItemView, Keymap: { isModEvent: () => false }, Notice, Plugin, PluginSettingTab, Setting, setIcon: () => undefined,
  SuggestModal, TFile,
};

/** Loads the plugin as it was built, into the app with the vault of a folder. */
export async function load(main: string, folder: string, data: object): Promise<Plugin & { onload(): Promise<void> }> {
  app.vault.adapter = new FileSystemAdapter(folder);
  const require = createRequire(import.meta.url);
  const module = { exports: {} as { default: new (app: object, manifest: object) => Plugin & { onload(): Promise<void> } } };
  const globals = { window: { setTimeout: (run: () => void) => run() }, navigator: { clipboard: { writeText } } };
  new Function("require", "module", "exports", ...Object.keys(globals), readFileSync(main, "utf8"))(
    (name: string) => (name === "obsidian" ? obsidian : require(name)), module, module.exports, ...Object.values(globals));
  const manifest = JSON.parse(readFileSync(join(main, "..", "manifest.json"), "utf8")) as object;
  const plugin = new module.exports.default(app, manifest);
  plugin.data = data;
  await plugin.onload();
  return plugin;
}

async function writeText(text: string): Promise<void> {
  app.clipboard = text;
}

/** A new element to draw into. */
export { element };
