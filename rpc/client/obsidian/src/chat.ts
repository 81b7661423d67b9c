import { setIcon, TFile } from "obsidian";

import type { ChatAction } from "ctxd-client";
import { said, type Source } from "./engine.js";
import { SearchModal } from "./search.js";
import { Pane } from "./view.js";

export const chatType = "ctxd-chat";

/** The pane of a conversation about the notes. */
export class ChatView extends Pane {
  #talk!: HTMLElement;
  #text!: HTMLTextAreaElement;
  #send!: HTMLButtonElement;
  #who!: HTMLElement;
  #about!: HTMLInputElement;
  #conversation: string | undefined;
  #answering: AbortController | undefined;

  override getViewType(): string {
    return chatType;
  }

  override getDisplayText(): string {
    return "Chat about notes";
  }

  override getIcon(): string {
    return "message-square";
  }

  override async onOpen(): Promise<void> {
    this.addAction("plus", "New conversation", () => this.#begin());
    this.contentEl.addClass("ctxd-chat");
    this.#who = this.contentEl.createDiv({ cls: "ctxd-dim ctxd-who" });
    this.#talk = this.contentEl.createDiv({ cls: "ctxd-talk", attr: { "aria-live": "polite" } });
    const form = this.contentEl.createEl("form", { cls: "ctxd-ask" });
    this.#text = form.createEl("textarea", { attr: { rows: "3", placeholder: "Ask about your notes: [[Title]], @entity, /book FILE" } });
    const row = form.createDiv({ cls: "ctxd-row" });
    const label = row.createEl("label", { cls: "ctxd-dim" });
    this.#about = label.createEl("input", { type: "checkbox" });
    this.#about.checked = true;
    label.appendText(" about the open note");
    this.#send = row.createEl("button", { text: "Send", cls: "mod-cta", attr: { type: "submit" } });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        this.#submit();
      }
    });
    this.refresh();
  }

  override async onClose(): Promise<void> {
    this.#answering?.abort();
  }

  /** Says who answers, and whether anything leaves the machine for it. */
  override refresh(): void {
    this.plugin.engine.answerer().then((who) => {
      this.#who.setText(
        who === undefined ? "Nobody answers: no language model is configured in ctxd."
        : who.server === undefined ? `${who.name} answers, on this machine.`
        : `${who.name} answers. ctxd sends what you write, and what it stands on, to ${who.server}, without private notes.`,
      );
    }, (err: unknown) => this.#who.setText(said(err)));
  }

  #begin(): void {
    this.#answering?.abort();
    this.#conversation = undefined;
    this.#talk.empty();
    this.#text.focus();
  }

  // submit sends what was typed; while an answer is given, it stops that.
  #submit(): void {
    if (this.#answering !== undefined) {
      this.#answering.abort();
      return;
    }
    const text = this.#text.value.trim();
    if (text !== "") {
      this.#text.value = "";
      void this.#ask(text);
    }
  }

  async #ask(text: string): Promise<void> {
    const own = new AbortController();
    this.#answering = own;
    this.#send.setText("Stop");
    this.#bubble("user").setText(text);
    const box = this.#bubble("assistant");
    const words = box.createDiv();
    const file = this.app.workspace.getActiveFile();
    const note = this.#about.checked && file instanceof TFile && file.extension === "md" ? file.path : undefined;
    try {
      const answer = await this.plugin.engine.ask(text, { conversation: this.#conversation, note, signal: own.signal });
      for await (const delta of answer) {
        this.#conversation = delta.conversationId;
        if (delta.type === "text") {
          words.appendText(delta.text ?? "");
        } else if (delta.type === "warning") {
          box.createDiv({ cls: "ctxd-dim", text: delta.data?.warning?.message ?? "" });
        }
        this.#talk.scrollTop = this.#talk.scrollHeight;
      }
      const { conversationId, content, assistantMessage, actions } = await answer.result;
      this.#conversation = conversationId;
      this.#answered(own); // the next message need not wait for the sources
      this.#link(words, content);
      actions.forEach((action) => this.#propose(box, action));
      this.#cite(box, await this.plugin.engine.sources(conversationId, assistantMessage.id));
    } catch (err) {
      box.createDiv({ cls: "ctxd-dim", text: own.signal.aborted ? "Stopped." : said(err) });
    } finally {
      this.#answered(own);
      this.#talk.scrollTop = this.#talk.scrollHeight;
    }
  }

  #answered(own: AbortController): void {
    if (this.#answering === own) {
      this.#answering = undefined;
      this.#send.setText("Send");
    }
  }

  #bubble(who: "user" | "assistant"): HTMLElement {
    return this.#talk.createDiv({ cls: `ctxd-said ctxd-${who}` });
  }

  // link shows an answer with its links to notes. It is no Markdown on purpose:
  // a picture in it would be fetched from wherever it says.
  #link(words: HTMLElement, content: string): void {
    words.empty();
    let at = 0;
    for (const match of content.matchAll(/\[\[([^[\]|]+)(?:\|([^[\]]+))?\]\]/g)) {
      words.appendText(content.slice(at, match.index));
      const target = match[1] ?? "";
      this.#anchor(words, match[2] ?? target, target);
      at = match.index + match[0].length;
    }
    words.appendText(content.slice(at));
  }

  #anchor(parent: HTMLElement, label: string, target: string): void {
    const link = parent.createEl("a", { text: label, href: "#" });
    link.addEventListener("click", (event) => {
      event.preventDefault();
      void this.app.workspace.openLinkText(target, "", "tab");
    });
  }

  #cite(box: HTMLElement, sources: Source[]): void {
    if (sources.length === 0) {
      return;
    }
    const line = box.createDiv({ cls: "ctxd-sources" });
    for (const { label, path, heading, note } of sources) {
      const one = line.createSpan(note === undefined ? {} : { attr: { title: note } });
      if (path === undefined) {
        one.setText(label);
      } else {
        this.#anchor(one, label, heading === undefined ? path : `${path}#${heading}`);
      }
    }
  }

  // propose shows what an answer would do, which happens when the person says so.
  #propose(box: HTMLElement, action: ChatAction): void {
    const line = box.createDiv({ cls: "ctxd-action" });
    const said = line.createSpan({ text: describe(action) });
    const buttons = line.createSpan({ cls: "ctxd-buttons" });
    const offer = (icon: string, label: string, run: () => Promise<string>) => {
      const button = buttons.createEl("button", { cls: "clickable-icon", attr: { "aria-label": label } });
      setIcon(button, icon);
      button.addEventListener("click", () => void this.#decide(said, buttons, run));
    };
    offer("check", "Do it", async () => {
      const done = await this.plugin.engine.confirm(action, ({ message, done: far, total }) => {
        said.setText(total > 0 ? `${message ?? "Reading"}: ${far} of ${total}` : message ?? "");
      });
      if (done.search !== undefined) {
        new SearchModal(this.plugin, done.search).open();
      }
      return done.said;
    });
    offer("x", "Leave it", async () => {
      await this.plugin.engine.reject(action);
      return "Left.";
    });
  }

  async #decide(line: HTMLElement, buttons: HTMLElement, run: () => Promise<string>): Promise<void> {
    buttons.hide();
    try {
      line.setText(await run());
    } catch (err) {
      line.setText(said(err));
      buttons.show();
    }
  }
}

/** What an action would do, in words. */
export function describe({ type, args, edit }: ChatAction): string {
  const text = (name: string) => String(args[name] ?? "");
  switch (type) {
    case "book":
      return `Read ${text("path")} to answer from it?`;
    case "search":
      return `Search for “${text("query")}”?`;
    case "remember":
      return `Remember: ${text("statement")}`;
    case "forget":
      return `Forget: ${text("statement")}`;
    case "pin":
      return `Pin ${text("label") || "it"} in this conversation?`;
    case "createTask":
      return `Create the task: ${text("title")}`;
    case "assignEntity":
      return edit === undefined ? `Set ${text("field")}?` : `Set ${edit.field} in ${edit.path} to ${edit.value}?`;
  }
}
