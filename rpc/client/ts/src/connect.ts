import { onAbort } from "./abort.js";
import type { Chat } from "./chat.js";
import type { CallArguments, Client } from "./client.js";
import type { CtxdError } from "./errors.js";
import type { CallOptions, ConnectOptions } from "./options.js";
import {
  protocolVersion,
  type InitializeResult,
  type MethodName,
  type Notifications,
  type Result,
  type Topic,
} from "./protocol.js";
import { Session } from "./session.js";
import { defaultPath } from "./socket.js";
import { dial, run } from "./transport.js";
import { dated, introduce } from "./version.js";

/**
 * Connects to the daemon and introduces the client. Without a daemon the
 * promise is rejected with a CtxdError that is retryable, with one of another
 * version of the protocol with a VersionError.
 */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  const { path, command, signal, maxInFlight = 32 } = options;
  const wire = command === undefined ? await dial(path ?? defaultPath(), signal) : run(command);
  const session = new Session(wire, maxInFlight, options.onNotification);
  const { connection } = session;
  const forget = signal && onAbort(signal, () => connection.destroy());
  try {
    signal?.throwIfAborted();
    const params = {
      clientInfo: { name: options.name ?? "ctxd-ts", ...given("version", options.version) },
      protocolVersion,
      ...given("processId", options.processId),
    };
    const server = await introduce((method, of) => connection.request(method, of, {}), params);
    connection.notify("initialized", {});
    return new DaemonClient(session, server);
  } catch (err) {
    connection.destroy();
    throw signal?.aborted ? signal.reason : err;
  } finally {
    forget?.();
  }
}

class DaemonClient implements Client {
  readonly #session: Session;
  readonly server: InitializeResult;

  constructor(session: Session, server: InitializeResult) {
    this.#session = session;
    this.server = server;
  }

  get chat(): Chat {
    return this.#session.chat;
  }

  get open(): boolean {
    return this.#session.connection.open;
  }

  get closed(): Promise<CtxdError | undefined> {
    return this.#session.connection.closed;
  }

  call<M extends MethodName>(method: M, ...[params, options]: CallArguments<M>): Promise<Result<M>> {
    return this.#session.request(method, params, options).catch((err: unknown) => {
      throw dated(err);
    }) as Promise<Result<M>>;
  }

  request(method: string, params?: object, options?: CallOptions): Promise<unknown> {
    return this.#session.request(method, params, options);
  }

  subscribe<T extends Topic>(topic: T, listener: (event: Notifications[T]) => void): Promise<() => Promise<void>> {
    return this.#session.subscribe(topic, listener);
  }

  async close(): Promise<void> {
    this.#session.connection.end();
    await this.closed;
  }

  destroy(): void {
    this.#session.connection.destroy();
  }
}

function given<K extends string, V>(name: K, value: V | undefined): { [name in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { [name in K]: V });
}
