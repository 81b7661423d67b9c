import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import type { Daemon } from "./daemon.js";

/**
 * Shows a page that the program writes. It comes whole, with its own content security policy: nothing
 * is loaded from a network.
 */
export class Page implements vscode.Disposable {
  #panel: vscode.WebviewPanel | undefined;

  constructor(
    private readonly daemon: Daemon,
    private readonly type: string,
  ) {}

  /** Has the program write a file and shows it. The arguments end in the flag that the file follows. */
  async show(title: string, args: readonly string[], wrap: (content: string) => string = (content) => content): Promise<void> {
    const folder = await mkdtemp(path.join(tmpdir(), "ctxd-vscode-"));
    let html: string;
    try {
      const file = path.join(folder, "page");
      await this.daemon.run([...args, file]);
      html = wrap(await readFile(file, "utf8"));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    if (this.#panel === undefined) {
      this.#panel = vscode.window.createWebviewPanel(
        this.type,
        title,
        { viewColumn: vscode.ViewColumn.Two, preserveFocus: true },
        { enableScripts: true, enableFindWidget: true, localResourceRoots: [], retainContextWhenHidden: true },
      );
      this.#panel.onDidDispose(() => (this.#panel = undefined));
    }
    this.#panel.title = title;
    this.#panel.webview.html = html;
    this.#panel.reveal(undefined, true);
  }

  dispose(): void {
    this.#panel?.dispose();
  }
}

/** A page around a drawing, which may be larger than the window. */
export function drawing(svg: string): string {
  return `<!doctype html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>body{background:#fff;margin:0;padding:16px}svg{width:100%;height:auto}</style></head><body>${svg}</body></html>`;
}
