import type { NoteFull } from "ctxd-client";
import * as vscode from "vscode";
import { complaint, type Daemon } from "./daemon.js";
import { files, noteOf, type Located } from "./vault.js";

/** A line of the tree: a heading with lines below it, or a note to open. */
class Line extends vscode.TreeItem {
  readonly below: readonly Line[];

  constructor(label: string, below: readonly Line[] = []) {
    super(label, below.length > 0 ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.None);
    this.below = below;
  }
}

function opening(label: string, detail: string, icon: string, uri: vscode.Uri | undefined, line: number): Line {
  const item = new Line(label);
  item.description = detail;
  item.tooltip = uri?.fsPath ?? label;
  item.iconPath = new vscode.ThemeIcon(icon);
  if (uri !== undefined) {
    const place = new vscode.Position(Math.max(line - 1, 0), 0);
    item.command = { command: "vscode.open", title: "Open", arguments: [uri, { selection: new vscode.Range(place, place), preview: true }] };
  }
  return item;
}

/** The tree beside the editor: what links to the note of the active editor, and what it is related to. */
export class NoteTree implements vscode.TreeDataProvider<Line>, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #view: vscode.TreeView<Line>;
  readonly #subscriptions: vscode.Disposable[];
  #lines: Promise<Line[]> | undefined;
  #note: vscode.TextDocument | undefined;

  readonly onDidChangeTreeData = this.#changed.event;

  constructor(private readonly daemon: Daemon) {
    this.#note = markdown(vscode.window.activeTextEditor);
    this.#view = vscode.window.createTreeView("ctxd.note", { treeDataProvider: this, showCollapseAll: true });
    this.#subscriptions = [
      this.#view,
      this.#changed,
      daemon.onChanged(() => this.refresh()),
      vscode.window.onDidChangeActiveTextEditor((editor) => {
        // Focus that moves into another kind of view leaves the tree as it is.
        const note = markdown(editor);
        if (note !== undefined && note !== this.#note) {
          this.#note = note;
          this.refresh();
        }
      }),
    ];
  }

  refresh(): void {
    this.#lines = undefined;
    this.#changed.fire();
  }

  /** Shows the tree. */
  async reveal(): Promise<void> {
    await vscode.commands.executeCommand("ctxd.note.focus");
  }

  getTreeItem(line: Line): vscode.TreeItem {
    return line;
  }

  getChildren(line?: Line): vscode.ProviderResult<Line[]> {
    if (line !== undefined) return [...line.below];
    this.#lines ??= this.#read();
    return this.#lines;
  }

  async #read(): Promise<Line[]> {
    if (this.#note === undefined) return [];
    try {
      const client = await this.daemon.client();
      const note = await noteOf(client, this.#note);
      this.#view.description = note?.title ?? "";
      this.#view.message = note === undefined ? "This file is no note of a vault." : "";
      if (note === undefined) return [];
      const [find, { hits }] = await Promise.all([files(client), client.call("notes.similar", { ref: note.id, limit: 15 })]);
      // What links here is listed already.
      const linking = new Set(note.backlinks.map(({ id }) => id));
      const others = hits.filter(({ id }) => !linking.has(id));
      const related = others.map((hit) => opening(hit.title, hit.snippet, "markdown", find(hit), 1));
      return [...backlinks(note, find), ...(related.length > 0 ? [new Line("Related", related)] : [])];
    } catch (err) {
      this.#view.message = complaint(err);
      return [];
    }
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}

function backlinks(note: NoteFull, find: (record: Located) => vscode.Uri | undefined): Line[] {
  if (note.backlinks.length === 0) return [];
  const lines = note.backlinks.map((link) =>
    opening(link.title, link.count > 1 ? `line ${link.line}, ${link.count} links` : `line ${link.line}`, "references", find(link), link.line),
  );
  return [new Line(`Backlinks (${lines.length})`, lines)];
}

function markdown(editor: vscode.TextEditor | undefined): vscode.TextDocument | undefined {
  const document = editor?.document;
  return document?.languageId === "markdown" && document.uri.scheme === "file" ? document : undefined;
}
