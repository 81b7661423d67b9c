import type { Client, SearchHit } from "ctxd-client";
import * as vscode from "vscode";
import { complaint, type Daemon } from "./daemon.js";
import { drawing, type Page } from "./pages.js";
import { files, noteOf, type Located } from "./vault.js";

interface Hit extends vscode.QuickPickItem {
  readonly record: Located;
}

function hit({ title, path, vault, snippet }: SearchHit): Hit {
  return { label: title, description: path ?? "", detail: snippet, record: { path, vault }, alwaysShow: true };
}

/** Searches while the person types. */
export function search(daemon: Daemon): void {
  // It is there at once, so that what is typed before the daemon answers is not lost.
  const pick = vscode.window.createQuickPick<Hit>();
  pick.placeholder = "Words or a question; tag:work and after:7d narrow";
  pick.matchOnDetail = true;
  const ready = daemon.client().then(async (client) => ({ client, find: await files(client) }));
  let last: AbortController | undefined;
  const look = async (query: string): Promise<void> => {
    last?.abort();
    const own = (last = new AbortController());
    pick.busy = true;
    try {
      const { client } = await ready;
      const { hits } = await client.call("notes.search", { query, limit: 30 }, { signal: own.signal });
      if (last === own) pick.items = hits.map(hit);
    } catch (err) {
      if (last === own) pick.items = [{ label: complaint(err), record: {}, alwaysShow: true }];
    } finally {
      if (last === own) pick.busy = false;
    }
  };
  const accept = async (): Promise<void> => {
    const record = pick.activeItems[0]?.record;
    pick.hide();
    const uri = record && (await ready).find(record);
    if (uri !== undefined) await vscode.window.showTextDocument(uri);
  };
  pick.onDidChangeValue((query) => void look(query));
  pick.onDidAccept(() => void accept().catch((err: unknown) => vscode.window.showErrorMessage(`ctxd: ${complaint(err)}`)));
  pick.onDidHide(() => {
    last?.abort();
    pick.dispose();
  });
  pick.show();
  void look("");
}

/** What the person has selected in the active editor, or an empty text. */
function selection(): string {
  const editor = vscode.window.activeTextEditor;
  return editor === undefined ? "" : editor.document.getText(editor.selection).trim();
}

/** Asks for a text; undefined when the person gave up. */
function ask(prompt: string, value = ""): Thenable<string | undefined> {
  return vscode.window.showInputBox({ prompt, value, ignoreFocusOut: true });
}

/** The note of the active editor. */
async function here(client: Client) {
  const editor = vscode.window.activeTextEditor;
  return editor && (await noteOf(client, editor.document));
}

/** Shows the prompt for a message as the page of `ctxd inspect context`. */
export async function showContext(daemon: Daemon, page: Page): Promise<void> {
  const text = await ask("A message, with @Name and [[Title]]. Empty: the prompt for this note", selection());
  if (text === undefined) return;
  const args = ["inspect", "context"];
  if (text.trim() !== "") {
    args.push(text);
  } else {
    const note = await here(await daemon.client());
    if (note === undefined) throw new Error("this file is no note of a vault, so there is nothing to assemble");
    args.push(note.title, "--note", note.id);
  }
  await page.show("Prompt", [...args, "--html"]);
}

/** Puts the prompt for the selection, or for this note, on the clipboard. */
export async function copyContext(daemon: Daemon): Promise<void> {
  const client = await daemon.client();
  const text = selection();
  const note = text === "" ? await here(client) : undefined;
  if (text === "" && note === undefined) throw new Error("select a text, or open a note of a vault");
  const { system, sections } = await client.call(
    "context.assemble",
    note === undefined ? { text } : { text: note.title, mentionedNoteIds: [note.id] },
  );
  await vscode.env.clipboard.writeText(system);
  const names = sections.map(({ name }) => name).join(", ");
  void vscode.window.showInformationMessage(`Copied a prompt of ${[...system].length} characters (${names}).`);
}

/** Draws what lies around this note. */
export async function showGraph(daemon: Daemon, page: Page): Promise<void> {
  const note = await here(await daemon.client());
  const node = note?.id ?? (await ask("A note or an entity"));
  if (node === undefined || node === "") return;
  const args = ["inspect", "graph", node, "--depth", "1", "--format", "svg", "--output"];
  await page.show(`Graph: ${note?.title ?? node}`, args, drawing);
}

/** Asks a language model. The answers of a window are one conversation, in a document that nobody edits. */
export class Asking implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #uri = vscode.Uri.parse("ctxd:/Answers.md");
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #registration: vscode.Disposable;
  #text = "";
  #conversation: string | undefined;

  readonly onDidChange = this.#changed.event;

  constructor(private readonly daemon: Daemon) {
    this.#registration = vscode.workspace.registerTextDocumentContentProvider("ctxd", this);
  }

  provideTextDocumentContent(): string {
    return this.#text;
  }

  #append(text: string): void {
    this.#text += text;
    this.#changed.fire(this.#uri);
  }

  async ask(): Promise<void> {
    const quoted = selection();
    const question = await ask(quoted === "" ? "A question" : "A question about the selection");
    if (question === undefined || question.trim() === "") return;
    const client = await this.daemon.client();
    this.#append(`# ${question}\n\n`);
    await vscode.window.showTextDocument(this.#uri, { viewColumn: vscode.ViewColumn.Two, preserveFocus: true, preview: false });
    const title = "ctxd is asked";
    await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title, cancellable: true }, async (_, token) => {
      const stop = new AbortController();
      token.onCancellationRequested(() => stop.abort());
      const text = quoted === "" ? question : `${question}\n\n> ${quoted.replaceAll("\n", "\n> ")}`;
      const conversation = this.#conversation === undefined ? {} : { conversationId: this.#conversation };
      const answer = client.chat.send({ text, ...conversation }, { signal: stop.signal });
      try {
        for await (const delta of answer) {
          this.#conversation = delta.conversationId;
          if (delta.type === "text") this.#append(delta.text ?? "");
        }
        const { warnings } = await answer.result;
        for (const { message } of warnings) void vscode.window.showWarningMessage(message);
      } catch (err) {
        if (!stop.signal.aborted) throw err;
        this.#append("\n\n(stopped)");
      } finally {
        this.#append("\n\n");
      }
    });
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }
}

/** Writes a memory down: the selection, or what the person types. */
export async function remember(daemon: Daemon): Promise<void> {
  const statement = selection() || (await ask("A statement about you or your world"));
  if (statement === undefined || statement.trim() === "") return;
  const { memory } = await (await daemon.client()).call("memory.add", { statement: statement.trim() });
  void vscode.window.showInformationMessage(`Remembered as #${memory.number}, @${memory.handle}.`);
}
