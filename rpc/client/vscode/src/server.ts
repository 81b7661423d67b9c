import * as vscode from "vscode";
import { LanguageClient, RevealOutputChannelOn } from "vscode-languageclient/node";
import { program } from "./daemon.js";

const settings = ["import", "links", "rename", "inlayHints", "codeLens", "limit"] as const;

/** The language server `ctxd lsp`, and its restarts. */
export class Server implements vscode.Disposable {
  #client: LanguageClient | undefined;

  get started(): boolean {
    return this.#client !== undefined;
  }

  async start(): Promise<void> {
    const configuration = vscode.workspace.getConfiguration("ctxd");
    this.#client = new LanguageClient(
      "ctxd",
      "ctxd",
      { command: program(), args: ["lsp"] },
      {
        documentSelector: [
          { scheme: "file", language: "markdown" },
          { scheme: "untitled", language: "markdown" },
          { scheme: "file", language: "yaml", pattern: "**/.ctxd/types/*.{yaml,yml}" },
        ],
        synchronize: { configurationSection: "ctxd" },
        initializationOptions: { ctxd: Object.fromEntries(settings.map((name) => [name, configuration.get(name)])) },
        revealOutputChannelOn: RevealOutputChannelOn.Never,
      },
    );
    try {
      await this.#client.start();
    } catch (err) {
      this.#client = undefined;
      throw err;
    }
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.dispose();
  }

  dispose(): void {
    void this.stop();
  }
}
