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
import { dated, introduce, tooOld } from "./version.js";

/**
 * Connects to the daemon and introduces the client. Without a daemon the
 * promise is rejected with a CtxdError that is retryable, with one of another
 * version of the protocol, or an older one than wanted, with a VersionError.
 */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  const client = await open(options);
  const old = tooOld(client.server, options.minVersion);
  if (old === undefined) {
    return client;
  }
  if (options.command === undefined || !(await replaceable(client))) {
    client.destroy();
    throw old;
  }
  const again = await open(options);
  const still = tooOld(again.server, options.minVersion);
  if (still !== undefined) {
    again.destroy();
    throw still;
  }
  return again;
}

/** Stops a daemon that no other program uses. Whether it did: then the connection is over. */
export async function replaceable(client: Client): Promise<boolean> {
  if (await isShared(client)) {
    return false;
  }
  await client.call("admin.stop").catch(() => undefined); // it may end before it answers
  await client.closed;
  return true;
}

/** Whether programs other than this one are connected to the daemon. One that does not say is taken for shared. */
export async function isShared(client: Client): Promise<boolean> {
  try {
    const { connections } = await client.call("admin.connections");
    return connections.some(({ pid, client: { name } }) => pid !== process.pid && name !== "");
  } catch {
    return true;
  }
}

async function open(options: ConnectOptions): Promise<DaemonClient> {
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
      // The process at the other end of the socket is the command's.
      ...given("processId", options.processId ?? (command === undefined ? undefined : process.pid)),
      ...given("audience", options.audience),
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
