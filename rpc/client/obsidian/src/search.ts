import { Keymap, Notice, SuggestModal } from "obsidian";

import { said, type Found } from "./engine.js";
import type CtxdPlugin from "./main.js";
import { showSnippet } from "./view.js";

/** The search by meaning. */
export class SearchModal extends SuggestModal<Found> {
  readonly #plugin: CtxdPlugin;
  #asking = new AbortController();
  #told = false; // that there is a problem

  constructor(plugin: CtxdPlugin, query = "") {
    super(plugin.app);
    this.#plugin = plugin;
    this.setPlaceholder("Say what the note is about");
    this.setInstructions([
      { command: "↵", purpose: "open" },
      { command: "ctrl ↵", purpose: "open in a new tab" },
    ]);
    if (query !== "") {
      this.inputEl.value = query;
    }
  }

  override async getSuggestions(query: string): Promise<Found[]> {
    this.#asking.abort();
    const own = new AbortController();
    this.#asking = own;
    try {
      return await this.#plugin.engine.search(query, "hybrid", 20, own.signal);
    } catch (err) {
      if (!own.signal.aborted && !this.#told) {
        this.#told = true;
        new Notice(said(err));
      }
      return [];
    }
  }

  override renderSuggestion(found: Found, el: HTMLElement): void {
    el.createDiv({ text: found.title });
    showSnippet(el, found);
  }

  override onChooseSuggestion(found: Found, event: MouseEvent | KeyboardEvent): void {
    void this.app.workspace.openLinkText(found.path, "", Keymap.isModEvent(event));
  }

  override onClose(): void {
    super.onClose();
    this.#asking.abort();
  }
}
