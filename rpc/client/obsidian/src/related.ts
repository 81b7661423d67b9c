import { Keymap, TFile } from "obsidian";

import type { Found } from "./engine.js";
import { Pane, showSnippet } from "./view.js";

export const relatedType = "ctxd-related";

/** The pane of notes that are near in meaning to the one that is open. */
export class RelatedView extends Pane {
  #asking = new AbortController();
  #shown: string | undefined; // the path of the note
  #listed = ""; // what is shown, which is not drawn again

  override getViewType(): string {
    return relatedType;
  }

  override getDisplayText(): string {
    return "Related notes";
  }

  override getIcon(): string {
    return "waypoints";
  }

  override async onOpen(): Promise<void> {
    this.contentEl.addClass("ctxd-related");
    this.registerEvent(this.app.workspace.on("file-open", () => this.refresh()));
    this.refresh();
  }

  override async onClose(): Promise<void> {
    this.#asking.abort();
  }

  override refresh(): void {
    this.#asking.abort();
    const own = new AbortController();
    this.#asking = own;
    void this.#show(own.signal);
  }

  async #show(signal: AbortSignal): Promise<void> {
    const file = this.app.workspace.getActiveFile();
    if (!(file instanceof TFile) || file.extension !== "md") {
      this.#listed = "";
      this.contentEl.empty();
      this.contentEl.createEl("p", { cls: "ctxd-dim", text: "Open a note to see what is related to it." });
      return;
    }
    try {
      const found = await this.plugin.engine.related(file.path, this.plugin.settings.related, signal);
      const listed = JSON.stringify([file.path, found]);
      if (!signal.aborted && listed !== this.#listed) {
        this.#listed = listed;
        this.#shown = file.path;
        this.#list(found);
      }
    } catch (err) {
      if (!signal.aborted) {
        this.#listed = "";
        this.contentEl.empty();
        this.problem(this.contentEl, err);
      }
    }
  }

  #list(found: Found[]): void {
    this.contentEl.empty();
    if (found.length === 0) {
      this.contentEl.createEl("p", { cls: "ctxd-dim", text: "Nothing is related to this note." });
    }
    for (const note of found) {
      const item = this.contentEl.createDiv({ cls: "ctxd-item" });
      const head = item.createDiv({ cls: "ctxd-head" });
      const link = head.createEl("a", { text: note.title, href: "#" });
      if (note.linked) {
        head.createSpan({ cls: "ctxd-dim", text: "linked" });
      }
      showSnippet(item, note);
      link.addEventListener("click", (event) => {
        event.preventDefault();
        void this.app.workspace.openLinkText(note.path, "", Keymap.isModEvent(event));
      });
      link.addEventListener("mouseover", (event) => {
        this.app.workspace.trigger("hover-link", {
          event, source: relatedType, hoverParent: this, targetEl: link, linktext: note.path, sourcePath: this.#shown ?? "",
        });
      });
    }
  }
}
