import type { Client } from "../client.js";
import { CtxdError, unavailable } from "../errors.js";
import { ErrorCode, type ErrorData, type Progress, type Topic } from "../protocol.js";
import type { Api } from "./api.js";
import { defaultChannel } from "./channel.js";
import { retryMethod, stateMethod, stateToWire, toWire, type DaemonState, type WireError } from "./state.js";
import type { Daemon } from "./supervise.js";

/** The main process's end of a channel: a MessagePortMain of Electron, or a MessagePort of Node. */
export interface PagePort {
  postMessage(message: string): void;
  on(event: "message", listener: (message: unknown) => void): unknown;
  on(event: "close", listener: () => void): unknown;
  start?(): void;
  close(): void;
}

/** What is used of Electron to get the ports of pages. */
export interface IpcMain {
  on(channel: string, listener: (event: PageEvent) => void): unknown;
  removeListener(channel: string, listener: (event: PageEvent) => void): unknown;
}

/** A message of a preload script that hands a port over. */
export interface PageEvent {
  readonly ports: readonly PagePort[];
  readonly senderFrame: { readonly url: string; readonly parent: unknown } | null;
}

/** Which pages are served. */
export interface ServePagesOptions {
  /** Whether a page is one of the app's; only main frames are asked about. */
  accept: (url: string) => boolean;
  /** The channel, as in expose; ctxd-bridge when absent. */
  channel?: string | undefined;
}

/**
 * Serves every page of the app whose preload script exposes the bridge. What it
 * returns ends that; pages that are served already stay so.
 */
export function servePages(ipcMain: IpcMain, daemon: Daemon, api: Api, options: ServePagesOptions): () => void {
  const { accept, channel = defaultChannel } = options;
  const listener = ({ ports, senderFrame }: PageEvent) => {
    const welcome = senderFrame !== null && senderFrame.parent === null && accept(senderFrame.url);
    for (const port of ports) {
      if (welcome) {
        serve(port, daemon, api);
      } else {
        port.close();
      }
    }
  };
  ipcMain.on(channel, listener);
  return () => void ipcMain.removeListener(channel, listener);
}

/**
 * Serves the page, or worker, at the other end of a port: what the api allows,
 * over a connection of its own, until the port or the supervision ends.
 */
export function serve(port: PagePort, daemon: Daemon, api: Api): void {
  new Served(port, daemon, api);
}

// A page that has so many calls without an answer is out of order.
const maxUnanswered = 1000;

interface Request {
  id?: unknown;
  method?: unknown;
  params?: unknown;
}

class Served {
  readonly #port: PagePort;
  readonly #daemon: Daemon;
  readonly #methods: ReadonlySet<string>;
  readonly #allowedTopics: ReadonlySet<string>;
  readonly #topics = new Set<Topic>(); // that the page listens to
  readonly #calls = new Map<number, AbortController>(); // without an answer, by the id of the page
  readonly #over = new AbortController();
  readonly #forget: () => void;
  #client: Promise<Client> | undefined;
  #told: DaemonState | undefined; // what the page knows

  constructor(port: PagePort, daemon: Daemon, api: Api) {
    this.#port = port;
    this.#daemon = daemon;
    this.#methods = new Set(api.methods);
    this.#allowedTopics = new Set(api.topics ?? []);
    this.#forget = daemon.onState((state) => this.#changed(state));
    port.on("message", (message) => this.#take(textOf(message)));
    port.on("close", () => this.#end());
    port.start?.();
    this.#changed(daemon.state);
  }

  // changed tells the page of a state; of running when its topics are listened
  // to, so that it misses nothing after it has read everything again.
  #changed(state: DaemonState): void {
    if (state.state === "running") {
      this.#attach().then(
        () => this.#tell(this.#daemon.state),
        () => undefined, // the daemon is gone again, of which there is another state
      );
      return;
    }
    this.#tell(state);
    if (state.state === "stopped") {
      this.#end();
    }
  }

  #tell(state: DaemonState): void {
    if (state !== this.#told) {
      this.#told = state;
      this.#post({ method: stateMethod, params: stateToWire(state) });
    }
  }

  // attach is the connection of the page, made when there is none.
  #attach(): Promise<Client> {
    if (this.#client === undefined) {
      const made = this.#connect();
      this.#client = made;
      made.then(
        (client) => void client.closed.then(() => this.#lost(made)),
        () => this.#drop(made),
      );
    }
    return this.#client;
  }

  async #connect(): Promise<Client> {
    const client = await this.#daemon.connect({
      signal: this.#over.signal,
      onNotification: (method, params) => this.#notify(method, params),
    });
    const topics = [...this.#topics];
    if (topics.length > 0) {
      await client.call("events.subscribe", { topics });
    }
    return client;
  }

  #drop(client: Promise<Client>): void {
    if (this.#client === client) {
      this.#client = undefined;
    }
  }

  // lost makes a connection in the place of one that ended while the daemon
  // stays, as happens to a page that does not read. A daemon that has died
  // becomes running again, which does the same.
  #lost(client: Promise<Client>): void {
    this.#drop(client);
    this.#told = undefined;
    if (!this.#over.signal.aborted && this.#daemon.state.state === "running") {
      this.#changed(this.#daemon.state);
    }
  }

  #end(): void {
    if (this.#over.signal.aborted) {
      return;
    }
    this.#over.abort(unavailable("the page is gone"));
    this.#forget();
    this.#calls.forEach((call) => call.abort());
    this.#calls.clear();
    this.#client?.then((client) => client.destroy(), () => undefined);
    this.#port.close();
  }

  #notify(method: string, params: unknown): void {
    if (method === "chat.delta" || this.#topics.has(method as Topic)) {
      this.#post({ method, params });
    }
  }

  #take(text: string | undefined): void {
    const request = text === undefined ? undefined : parse(text);
    if (request === undefined || this.#over.signal.aborted) {
      return; // it is not of our other end
    }
    const { id, method, params } = request;
    if (method === "$/cancelRequest") {
      this.#calls.get((params as { id?: number } | undefined)?.id ?? NaN)?.abort();
    } else if (method === retryMethod) {
      this.#daemon.retry();
    } else if (typeof id === "number" && typeof method === "string") {
      void this.#answer(id, method, params ?? {});
    }
  }

  async #answer(id: number, method: string, params: unknown): Promise<void> {
    try {
      this.#check(id, method, params);
    } catch (err) {
      this.#post({ id, error: asWire(err) });
      return;
    }
    const call = new AbortController();
    this.#calls.set(id, call);
    try {
      const result = await this.#call(method, params as Params, call.signal);
      this.#post({ id, result: result ?? null });
    } catch (err) {
      this.#post({ id, error: asWire(err) });
    } finally {
      this.#calls.delete(id);
    }
  }

  #check(id: number, method: string, params: unknown): void {
    const topics = method === "events.subscribe" || method === "events.unsubscribe";
    if (!topics && !this.#methods.has(method)) {
      throw new CtxdError(ErrorCode.MethodNotFound, `the page may not call ${method}`, {
        kind: "method_not_found",
        hint: "allow it in the api that the main process serves",
      });
    }
    if (typeof params !== "object" || params === null || Array.isArray(params)) {
      throw new CtxdError(ErrorCode.InvalidParams, "params must be an object", { kind: "invalid_params" });
    }
    const named = (params as { topics?: unknown }).topics;
    const refused = topics && (!Array.isArray(named) || !named.every((topic) => this.#allowedTopics.has(topic as string)));
    if (refused) {
      throw new CtxdError(ErrorCode.InvalidParams, "the page may not listen to that topic", {
        kind: "invalid_params",
        field: "topics",
        hint: "allow it in the api that the main process serves",
      });
    }
    if (this.#calls.has(id)) {
      throw new CtxdError(ErrorCode.InvalidRequest, "a call with that id has no answer so far", { kind: "invalid_request" });
    }
    if (this.#calls.size >= maxUnanswered) {
      throw new CtxdError(ErrorCode.Limit, `the page has ${maxUnanswered} calls without an answer`, {
        kind: "limit",
        retryable: true,
      });
    }
  }

  async #call(method: string, params: Params, signal: AbortSignal): Promise<unknown> {
    if (method === "events.subscribe") {
      return this.#subscribe(params.topics ?? []);
    }
    if (method === "events.unsubscribe") {
      params.topics?.forEach((topic) => this.#topics.delete(topic));
    }
    // A call that is withdrawn while the daemon starts needs no answer of it.
    const client = await orAborted(this.#attach(), signal);
    const { progressToken: token, ...own } = params;
    const onProgress = (value: Progress) => this.#post({ method: "$/progress", params: { token, value } });
    return client.call(method as "tags.list", own as object, token === undefined ? { signal } : { signal, onProgress });
  }

  // subscribe is done when events come, or where the daemon can't be had: each
  // connection begins with the topics of the page, before any call of it. They
  // are noted before they are asked for, since the first event may come with the
  // answer.
  async #subscribe(topics: Topic[]): Promise<object> {
    const added = topics.filter((topic) => !this.#topics.has(topic));
    added.forEach((topic) => this.#topics.add(topic));
    try {
      await (await this.#attach()).call("events.subscribe", { topics });
    } catch (err) {
      if (err instanceof CtxdError && err.kind !== "unavailable" && err.kind !== "cancelled") {
        added.forEach((topic) => this.#topics.delete(topic));
        throw err;
      }
    }
    return { topics: [...this.#topics] };
  }

  #post(message: object): void {
    if (!this.#over.signal.aborted) {
      this.#port.postMessage(JSON.stringify({ jsonrpc: "2.0", ...message }));
    }
  }
}

interface Params {
  progressToken?: unknown;
  topics?: Topic[];
}

// textOf is what a port was given: Node's hands it over, Electron's puts it
// into an event.
function textOf(message: unknown): string | undefined {
  const data = typeof message === "object" && message !== null ? (message as { data?: unknown }).data : message;
  return typeof data === "string" ? data : undefined;
}

function parse(text: string): Request | undefined {
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === "object" && message !== null ? message : undefined;
  } catch {
    return undefined;
  }
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}

// asWire is an error for the page. What is no error of ours is the reason of a
// signal: the page has withdrawn the call, and knows why.
function asWire(err: unknown): WireError {
  if (err instanceof CtxdError) {
    return toWire(err);
  }
  const data: ErrorData = { kind: "cancelled", retryable: false };
  return { code: ErrorCode.Cancelled, message: "the call was withdrawn", data };
}
