import { ItemView, type WorkspaceLeaf } from "obsidian";

import { said, UnknownVault, type Found } from "./engine.js";
import type CtxdPlugin from "./main.js";

/** A pane of the plugin, and what its panes have in common. Text of notes and models is only ever shown as text. */
export abstract class Pane extends ItemView {
  readonly plugin: CtxdPlugin;

  constructor(leaf: WorkspaceLeaf, plugin: CtxdPlugin) {
    super(leaf);
    this.plugin = plugin;
  }

  /** Everything may have changed. */
  abstract refresh(): void;

  /** Says in the pane what went wrong, with a button that helps where there is one. */
  protected problem(parent: HTMLElement, err: unknown): void {
    const box = parent.createDiv({ cls: "ctxd-problem" });
    box.createEl("p", { text: said(err) });
    const unknown = err instanceof UnknownVault;
    const button = box.createEl("button", { text: unknown ? "Index this vault" : "Try again" });
    button.addEventListener("click", () => {
      if (unknown) {
        button.disabled = true;
        void this.plugin.importVault();
      } else {
        this.refresh();
      }
    });
  }
}

/** Shows a snippet with what matched in it. */
export function showSnippet(parent: HTMLElement, { snippet, ranges }: Pick<Found, "snippet" | "ranges">): void {
  const line = parent.createDiv({ cls: "ctxd-snippet" });
  let at = 0;
  for (const [start, end] of ranges) {
    line.appendText(snippet.slice(at, start));
    line.createEl("mark", { text: snippet.slice(start, end) });
    at = end;
  }
  line.appendText(snippet.slice(at));
}
