import { FileSystemAdapter, Notice, Plugin, TFile, type WorkspaceLeaf } from "obsidian";

import { ChatView, chatType } from "./chat.js";
import { Engine, said } from "./engine.js";
import { RelatedView, relatedType } from "./related.js";
import { SearchModal } from "./search.js";
import { defaults, SettingsTab, type Settings } from "./settings.js";
import { Pane } from "./view.js";

/** The plugin: commands, panes and settings over an Engine. */
export default class CtxdPlugin extends Plugin {
  override settings: Settings = { ...defaults };
  engine!: Engine;

  override async onload(): Promise<void> {
    this.settings = { ...defaults, ...((await this.loadData()) as Partial<Settings> | null) };
    this.connect();
    this.register(() => this.engine.close());
    this.registerView(relatedType, (leaf) => new RelatedView(leaf, this));
    this.registerView(chatType, (leaf) => new ChatView(leaf, this));
    this.registerHoverLinkSource(relatedType, { display: "Related notes", defaultMod: true });
    this.addSettingTab(new SettingsTab(this.app, this));
    this.addRibbonIcon("waypoints", "Related notes", () => void this.#open(relatedType));
    this.addCommand({ id: "related", name: "Show related notes", callback: () => void this.#open(relatedType) });
    this.addCommand({ id: "search", name: "Search by meaning", callback: () => new SearchModal(this).open() });
    this.addCommand({ id: "chat", name: "Chat about notes", callback: () => void this.#open(chatType) });
    this.addCommand({ id: "index", name: "Index this vault", callback: () => void this.importVault() });
    this.addCommand({
      id: "copy-context",
      name: "Copy the context of this note",
      checkCallback: (checking) => {
        const file = this.app.workspace.getActiveFile();
        if (!(file instanceof TFile) || file.extension !== "md") {
          return false;
        }
        if (!checking) {
          void this.#copyContext(file);
        }
        return true;
      },
    });
  }

  async saveSettings(): Promise<void> {
    await this.saveData(this.settings);
  }

  /** Makes the engine anew, as the settings say. */
  connect(): void {
    this.engine?.close();
    this.engine = new Engine({
      program: this.settings.program,
      version: this.manifest.version,
      vault: this.#folder(),
      onChange: () => this.#refresh(),
    });
    this.#refresh();
  }

  /** Has ctxd read the vault and follow it, and says how that goes. */
  async importVault(): Promise<void> {
    const notice = new Notice("Indexing this vault …", 0);
    try {
      const notes = await this.engine.importVault(({ done, total }) => {
        notice.setMessage(total > 0 ? `Indexing this vault: ${done} of ${total}` : "Indexing this vault …");
      });
      notice.setMessage(`${notes} notes are indexed.`);
      this.#refresh();
    } catch (err) {
      notice.setMessage(said(err));
    }
    window.setTimeout(() => notice.hide(), 5000);
  }

  async #copyContext(file: TFile): Promise<void> {
    const { copyPrivate, searchNotes } = this.settings;
    try {
      const { text, withheld } = await this.engine.context(file.path, { private: copyPrivate, searchNotes });
      await navigator.clipboard.writeText(text);
      const left = withheld === 0 ? "" : ` ${withheld} private ${withheld === 1 ? "record was" : "records were"} left out.`;
      new Notice(`The context of “${file.basename}” is copied.${left}`);
    } catch (err) {
      new Notice(said(err));
    }
  }

  #folder(): string {
    const { adapter } = this.app.vault;
    if (!(adapter instanceof FileSystemAdapter)) {
      throw new Error("ctxd needs a vault on the disk");
    }
    return adapter.getBasePath();
  }

  async #open(type: string): Promise<void> {
    const { workspace } = this.app;
    const leaf: WorkspaceLeaf | null = workspace.getLeavesOfType(type)[0] ?? workspace.getRightLeaf(false);
    await leaf?.setViewState({ type, active: true });
    if (leaf) {
      await workspace.revealLeaf(leaf);
    }
  }

  #refresh(): void {
    for (const type of [relatedType, chatType]) {
      for (const { view } of this.app.workspace.getLeavesOfType(type)) {
        if (view instanceof Pane) {
          view.refresh();
        }
      }
    }
  }
}
