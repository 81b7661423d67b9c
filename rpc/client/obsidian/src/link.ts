import { connect, CtxdError, type Client, type Topic } from "ctxd-client";

/** How the engine is reached. */
export interface LinkOptions {
  /** The program ctxd: a path, or a name in $PATH. */
  program: string;
  /** What follows its name; stdio when absent, which starts the daemon when none runs. */
  args?: readonly string[];
  /** The version of the plugin. */
  version: string;
  /** Is told whether there is a connection, with why when there is none. */
  onState?: (connected: boolean, why?: CtxdError) => void;
  /**
   * Is told that notes have changed, that a stage of their indexing has ended, of
   * which what is near in meaning depends, and after each new connection that
   * everything may have changed.
   */
  onChange?: (topic: Topic | "all") => void;
}

// How long the first wait before a new connection is, and the longest, in
// milliseconds.
const [firstWait, longestWait] = [500, 30_000];

/**
 * The connection to the engine. It is made when it is asked for, and made again
 * after it broke, first at once and then less and less often.
 */
export class Link {
  readonly #options: LinkOptions;
  #client: Promise<Client> | undefined;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #over = false;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** The connection, made when there is none. Rejected with a CtxdError when it can't be made. */
  client(): Promise<Client> {
    if (this.#over) {
      return Promise.reject(new Error("the plugin is unloaded"));
    }
    clearTimeout(this.#timer);
    this.#client ??= this.#connect();
    return this.#client;
  }

  /** Ends the connection. The daemon goes by itself when nobody needs it. */
  close(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#client?.then((client) => client.destroy(), () => undefined);
  }

  async #connect(): Promise<Client> {
    const { program, args = ["stdio"], version, onState, onChange } = this.#options;
    try {
      const client = await connect({ command: [program, ...args], name: "obsidian", version });
      await client.subscribe("notes.changed", () => onChange?.("notes.changed"));
      await client.subscribe("index.progress", ({ done, total }) => done >= total && onChange?.("index.progress"));
      this.#failures = 0;
      void client.closed.then((reason) => this.#lost(reason));
      onState?.(true);
      onChange?.("all");
      return client;
    } catch (err) {
      this.#lost(err instanceof CtxdError ? err : undefined);
      throw err;
    }
  }

  #lost(reason: CtxdError | undefined): void {
    this.#client = undefined;
    if (this.#over) {
      return;
    }
    this.#options.onState?.(false, reason);
    const wait = Math.min(firstWait * 2 ** this.#failures++, longestWait);
    this.#timer = setTimeout(() => void this.client().catch(() => undefined), wait);
  }
}
