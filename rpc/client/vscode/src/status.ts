import { CtxdError, type Health } from "ctxd-client";
import * as vscode from "vscode";
import { complaint, type Daemon } from "./daemon.js";

/** The item of the status bar that says how the daemon is. */
export class Status implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem("ctxd.health", vscode.StatusBarAlignment.Right, 10);
  readonly #subscription: vscode.Disposable;
  #health: Health | CtxdError | undefined;

  constructor(private readonly daemon: Daemon) {
    this.#item.name = "ctxd";
    this.#item.command = "ctxd.health";
    this.#item.text = "$(sync~spin) ctxd";
    this.#item.show();
    this.#subscription = daemon.onHealth((health) => this.#show(health));
  }

  #show(health: Health | CtxdError): void {
    this.#health = health;
    const fails = health instanceof CtxdError || health.status === "error";
    const warns = !fails && health.status === "warning";
    this.#item.text = fails ? "$(error) ctxd" : warns ? "$(warning) ctxd" : `$(check) ctxd: ${health.index.notes} notes`;
    this.#item.backgroundColor = fails
      ? new vscode.ThemeColor("statusBarItem.errorBackground")
      : warns
        ? new vscode.ThemeColor("statusBarItem.warningBackground")
        : undefined;
    this.#item.tooltip = describe(health);
  }

  /** Asks anew and shows the answer to the person. */
  async tell(): Promise<void> {
    await this.daemon.refreshHealth();
    if (this.#health === undefined) return;
    const text = describe(this.#health);
    const healthy = !(this.#health instanceof CtxdError) && this.#health.status === "healthy";
    await (healthy ? vscode.window.showInformationMessage(text) : vscode.window.showWarningMessage(text));
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#item.dispose();
  }
}

function describe(health: Health | CtxdError): string {
  if (health instanceof CtxdError) return `ctxd: ${complaint(health)}`;
  const { status, version, index, embedder, warnings } = health;
  const state = index.ready ? "" : ", being indexed";
  return [`ctxd ${version} is ${status}: ${index.notes} notes${state}, embedder ${embedder.name}.`, ...warnings].join("\n");
}
