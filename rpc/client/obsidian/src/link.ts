import { connect, CtxdError, type Client, type Topic } from "ctxd-client";

/** How the engine is reached. */
export interface LinkOptions {
  /** The program ctxd: a path, or a name in $PATH. */
  program: string;
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
 * The connection to the engine. It is made when it is asked for, and then a
 * daemon is started if none runs. After it broke it is made again as soon as a
 * daemon runs: one that somebody has stopped is not started behind their back.
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
    if (this.#client === undefined) {
      clearTimeout(this.#timer);
      const made = this.#connect(["stdio"]);
      this.#client = made;
      made.catch((err: unknown) => {
        this.#lost(made, err instanceof CtxdError ? err : undefined);
      });
      void made.then((client) => this.#use(made, client), () => undefined);
    }
    return this.#client;
  }

  /** Ends the connection. The daemon goes by itself when nobody needs it. */
  close(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#client?.then((client) => client.destroy(), () => undefined);
  }

  async #connect(args: string[]): Promise<Client> {
    const { program, version, onChange } = this.#options;
    const client = await connect({ command: [program, ...args], name: "obsidian", version });
    await client.subscribe("notes.changed", () => onChange?.("notes.changed"));
    await client.subscribe("index.progress", ({ done, total }) => done >= total && onChange?.("index.progress"));
    return client;
  }

  #use(made: Promise<Client>, client: Client): void {
    this.#failures = 0;
    void client.closed.then((reason) => this.#lost(made, reason));
    this.#options.onState?.(true);
    this.#options.onChange?.("all");
  }

  #lost(made: Promise<Client>, reason: CtxdError | undefined): void {
    if (this.#client === made) {
      this.#client = undefined;
    }
    if (!this.#over) {
      this.#options.onState?.(false, reason);
      this.#wait();
    }
  }

  #wait(): void {
    const wait = Math.min(firstWait * 2 ** this.#failures++, longestWait);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#retry(), wait);
  }

  // retry connects to a daemon that runs. Somebody who asks meanwhile does not
  // wait for it.
  async #retry(): Promise<void> {
    try {
      const client = await this.#connect(["stdio", "--no-start"]);
      if (this.#over || this.#client !== undefined) {
        client.destroy();
        return;
      }
      this.#client = Promise.resolve(client);
      this.#use(this.#client, client);
    } catch {
      if (!this.#over && this.#client === undefined) {
        this.#wait();
      }
    }
  }
}
