import { onAbort } from "./abort.js";
import { Answers, type Chat } from "./chat.js";
import { Connection, guard } from "./connection.js";
import type { CtxdError } from "./errors.js";
import type { CallOptions, ConnectOptions } from "./options.js";
import {
  protocolVersion,
  type ChatDelta,
  type InitializeResult,
  type MethodName,
  type Notifications,
  type Params,
  type Result,
  type Topic,
} from "./protocol.js";
import { defaultPath } from "./socket.js";
import { dial, run } from "./transport.js";
import { dated, introduce } from "./version.js";

/** The params, where the method needs any, and the options of a call. */
export type CallArguments<M extends MethodName> = {} extends Params<M>
  ? [params?: Params<M>, options?: CallOptions]
  : [params: Params<M>, options?: CallOptions];

/** A connection to the daemon; connect makes one. Calls may run side by side. */
export interface Client {
  /** What the daemon said of itself. */
  readonly server: InitializeResult;
  /** Whether calls can be made. */
  readonly open: boolean;
  /** Resolves when the connection is over: with undefined when the client ended it, else with what happened. */
  readonly closed: Promise<CtxdError | undefined>;

  /**
   * Calls a method. Reads run side by side; changes run in the order in which
   * they were called, and a read sees every change that was called before it.
   * Errors of the daemon are CtxdErrors.
   */
  call<M extends MethodName>(method: M, ...args: CallArguments<M>): Promise<Result<M>>;

  /** Has messages answered, and gives the answers piece by piece. */
  readonly chat: Chat;

  /** Calls a method that this client has no types for, such as one of a newer daemon. */
  request(method: string, params?: object, options?: CallOptions): Promise<unknown>;

  /**
   * Listens to a topic. The promise is resolved when the daemon sends events;
   * what it gives ends the subscription.
   */
  subscribe<T extends Topic>(topic: T, listener: (event: Notifications[T]) => void): Promise<() => Promise<void>>;

  /** Ends the connection when every call is answered; resolves when that is done. */
  close(): Promise<void>;

  /** Ends the connection at once. Calls without an answer are rejected; the daemon drops reads and completes changes. */
  destroy(): void;
}

/**
 * Connects to the daemon and introduces the client. Without a daemon the
 * promise is rejected with a CtxdError that is retryable, with one of another
 * version of the protocol with a VersionError.
 */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  const { path, command, signal, maxInFlight = 32 } = options;
  const transport = command === undefined ? await dial(path ?? defaultPath(), signal) : run(command);
  const listeners: Listeners = new Map();
  const connection = new Connection(transport, maxInFlight, (method, params) => {
    if (method !== "chat.delta" || !answers.take(params as ChatDelta)) {
      deliver(listeners, method, params, options.onNotification);
    }
  });
  const answers = new Answers((method, params, options) => connection.request(method, params, options));
  const forget = signal && onAbort(signal, () => connection.destroy());
  try {
    signal?.throwIfAborted();
    const params = {
      clientInfo: { name: options.name ?? "ctxd-ts", ...given("version", options.version) },
      protocolVersion,
      ...given("processId", options.processId),
    };
    const server = await introduce(connection, params);
    connection.notify("initialized", {});
    return new DaemonClient(connection, listeners, answers, server);
  } catch (err) {
    connection.destroy();
    throw signal?.aborted ? signal.reason : err;
  } finally {
    forget?.();
  }
}

type Listener = { listen: (event: never) => void };
type Listeners = Map<string, Set<Listener>>;

class DaemonClient implements Client {
  readonly #connection: Connection;
  readonly #listeners: Listeners;
  readonly chat: Chat;
  readonly server: InitializeResult;

  constructor(connection: Connection, listeners: Listeners, chat: Chat, server: InitializeResult) {
    this.#connection = connection;
    this.#listeners = listeners;
    this.chat = chat;
    this.server = server;
  }

  get open(): boolean {
    return this.#connection.open;
  }

  get closed(): Promise<CtxdError | undefined> {
    return this.#connection.closed;
  }

  call<M extends MethodName>(method: M, ...[params, options]: CallArguments<M>): Promise<Result<M>> {
    return this.request(method, params, options).catch((err: unknown) => {
      throw dated(err);
    }) as Promise<Result<M>>;
  }

  request(method: string, params: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.#connection.request(method, params, options);
  }

  async subscribe<T extends Topic>(topic: T, listener: (event: Notifications[T]) => void): Promise<() => Promise<void>> {
    const of = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, of);
    const own: Listener = { listen: listener };
    of.add(own);
    try {
      await this.call("events.subscribe", { topics: [topic] });
    } catch (err) {
      of.delete(own);
      throw err;
    }
    return async () => {
      if (of.delete(own) && of.size === 0 && this.open) {
        await this.call("events.unsubscribe", { topics: [topic] });
      }
    };
  }

  async close(): Promise<void> {
    this.#connection.end();
    await this.closed;
  }

  destroy(): void {
    this.#connection.destroy();
  }
}

function deliver(listeners: Listeners, method: string, params: unknown, rest: ConnectOptions["onNotification"]): void {
  const of = listeners.get(method);
  for (const { listen } of [...(of ?? [])]) {
    guard(listen, params as never);
  }
  if (of === undefined || of.size === 0) {
    guard(() => rest?.(method, params), undefined);
  }
}

function given<K extends string, V>(name: K, value: V | undefined): { [name in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { [name in K]: V });
}
