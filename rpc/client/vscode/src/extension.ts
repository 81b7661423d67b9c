import * as vscode from "vscode";
import { Asking, copyContext, remember, search, showContext, showGraph } from "./commands.js";
import { complaint, Daemon, program } from "./daemon.js";
import { Page } from "./pages.js";
import { Server } from "./server.js";
import { Status } from "./status.js";
import { NoteTree } from "./tree.js";
import { hasVault } from "./vault.js";

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const { version } = context.extension.packageJSON as { version: string };
  const daemon = new Daemon(version);
  const status = new Status(daemon);
  const tree = new NoteTree(daemon);
  const server = new Server();
  const prompt = new Page(daemon, "ctxd.context");
  const graph = new Page(daemon, "ctxd.graph");
  const asking = new Asking(daemon);
  context.subscriptions.push(server, asking, graph, prompt, tree, status, daemon);

  const command = (name: string, run: () => void | Promise<void>): void => {
    const told = async (): Promise<void> => {
      try {
        await run();
      } catch (err) {
        void vscode.window.showErrorMessage(`ctxd: ${complaint(err)}`);
      }
    };
    context.subscriptions.push(vscode.commands.registerCommand(`ctxd.${name}`, told));
  };
  command("search", () => search(daemon));
  command("related", () => tree.reveal());
  command("context", () => showContext(daemon, prompt));
  command("copyContext", () => copyContext(daemon));
  command("graph", () => showGraph(daemon, graph));
  command("ask", () => asking.ask());
  command("remember", () => remember(daemon));
  command("health", () => status.tell());
  command("restart", () => server.restart());

  // The command of the lenses of the language server.
  const showReferences = async (address: string, position: { line: number; character: number }): Promise<void> => {
    const uri = vscode.Uri.parse(address);
    const at = new vscode.Position(position.line, position.character);
    const found = await vscode.commands.executeCommand<vscode.Location[]>("vscode.executeReferenceProvider", uri, at);
    await vscode.commands.executeCommand("editor.action.showReferences", uri, at, found);
  };
  context.subscriptions.push(vscode.commands.registerCommand("ctxd.showReferences", showReferences));

  // In other folders nothing is started, and so nobody is asked whether to import them.
  const serve = async (): Promise<void> => {
    try {
      const folders = vscode.workspace.workspaceFolders ?? [];
      if (!server.started && (await hasVault(await daemon.client(), folders))) await server.start();
    } catch (err) {
      void vscode.window.showErrorMessage(`ctxd: the language server ${program()} lsp does not start: ${complaint(err)}`);
    }
  };
  context.subscriptions.push(vscode.workspace.onDidChangeWorkspaceFolders(() => void serve()));
  await serve();
}

export function deactivate(): void {
  // What is to be ended is among the subscriptions of the context.
}
