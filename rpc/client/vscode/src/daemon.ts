import { execFile } from "node:child_process";
import { connect, CtxdError, ErrorCode, type Client, type Health } from "ctxd-client";
import * as vscode from "vscode";

/** The program that the person has configured. */
export function program(): string {
  return vscode.workspace.getConfiguration("ctxd").get("program", "ctxd");
}

/**
 * The connection to the daemon, which `ctxd stdio` starts where none answers. It is made for the
 * first call, and again for the first one after it was lost.
 */
export class Daemon implements vscode.Disposable {
  #client: Promise<Client> | undefined;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #health = new vscode.EventEmitter<Health | CtxdError>();

  /** Notes have changed, or the connection was made or lost. */
  readonly onChanged = this.#changed.event;
  /** What is known of the daemon's health. */
  readonly onHealth = this.#health.event;

  constructor(private readonly version: string) {}

  /** The client, connected. */
  client(): Promise<Client> {
    this.#client ??= this.#connect();
    return this.#client;
  }

  async #connect(): Promise<Client> {
    try {
      const client = await connect({ command: [program(), "stdio"], name: "vscode", version: this.version });
      void client.closed.then((err) => this.#lost(err));
      await client.subscribe("notes.changed", () => this.#changed.fire());
      await client.subscribe("health.changed", () => void this.refreshHealth());
      void client.call("admin.health").then((health) => this.#health.fire(health));
      return client;
    } catch (err) {
      this.#client = undefined;
      const told = explain(err);
      this.#health.fire(told);
      throw told;
    }
  }

  #lost(err: CtxdError | undefined): void {
    this.#client = undefined;
    this.#health.fire(err ?? unavailable("the daemon was stopped"));
    this.#changed.fire();
  }

  /** Asks for the health, which onHealth then tells; it connects where it must. */
  async refreshHealth(): Promise<void> {
    try {
      this.#health.fire(await (await this.client()).call("admin.health"));
    } catch (err) {
      this.#health.fire(explain(err));
    }
  }

  /** Runs the program and returns what it prints. */
  run(args: readonly string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      execFile(program(), args, { maxBuffer: 64 << 20 }, (err, stdout, stderr) => {
        if (err) reject(explain(stderr.trim() ? new Error(stderr.trim().replace(/^Error: /, "")) : err));
        else resolve(stdout);
      });
    });
  }

  dispose(): void {
    void this.#client?.then((client) => client.close()).catch(() => undefined);
    this.#changed.dispose();
    this.#health.dispose();
  }
}

function unavailable(message: string): CtxdError {
  return new CtxdError(ErrorCode.Unavailable, message, { kind: "unavailable" });
}

/** The error as a person should read it: what is missing, and what to try. */
export function explain(err: unknown): CtxdError {
  if (err instanceof CtxdError) return err;
  const message = err instanceof Error ? err.message : String(err);
  const missing = (err as NodeJS.ErrnoException | undefined)?.code === "ENOENT" || /ENOENT/.test(message);
  return unavailable(missing ? `there is no program ${program()}; install ctxd, or set ctxd.program` : message);
}

/** The text of an error with its hint. */
export function complaint(err: unknown): string {
  const { message, hint } = explain(err);
  return hint ? `${message}. Try: ${hint}` : message;
}
