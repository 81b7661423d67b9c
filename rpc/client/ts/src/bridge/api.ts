import type { Chat } from "../chat.js";
import type { CtxdError } from "../errors.js";
import type { CallOptions } from "../options.js";
import type { MethodName, Notifications, Params, Result, Topic } from "../protocol.js";
import type { DaemonState } from "./state.js";

/**
 * What a page may do. An app writes it down once, and main process and page
 * import it:
 *
 *     export const api = {
 *       methods: ["notes.search", "chat.send"],
 *       topics: ["notes.changed"],
 *     } as const satisfies Api;
 *
 * The main process refuses everything else. The types of the page know nothing
 * else. The connection itself is not the page's, so that it can't initialize or
 * shut it down, and topics stand in a list of their own.
 */
export interface Api {
  readonly methods: readonly PageMethod[];
  readonly topics?: readonly Topic[];
}

/** What can be allowed to a page. */
export type PageMethod = Exclude<MethodName, "initialize" | "shutdown" | "events.subscribe" | "events.unsubscribe">;

/** The methods of an Api. */
export type Allowed<A extends Api> = A["methods"][number];

/** The topics of an Api. */
export type AllowedTopic<A extends Api> = NonNullable<A["topics"]>[number];

/** The daemon, as a page sees it. */
export interface Page<A extends Api> {
  /** Where the daemon stands, as the main process said last. */
  readonly state: DaemonState;
  /** Whether calls can be made. It stays true while the daemon is restarted. */
  readonly open: boolean;
  /** Resolves when the bridge is over: with undefined when the page ended it, else with what happened. */
  readonly closed: Promise<CtxdError | undefined>;

  /**
   * Calls a method. While the daemon is being started or restarted, a call
   * waits; the signal withdraws it. A call that was made when the daemon died is
   * rejected with an error that is retryable.
   */
  call<M extends Allowed<A>>(method: M, ...args: PageArguments<M>): Promise<Result<M>>;

  /** Has messages answered, and gives the answers piece by piece. The Api has to allow chat.send. */
  readonly chat: "chat.send" extends Allowed<A> ? Chat : never;

  /**
   * Listens to a topic, until the page ends. No daemon needs to run for that, and
   * the subscription outlives a restart; what was changed meanwhile is not told,
   * so read again when the state has become "running".
   */
  subscribe<T extends AllowedTopic<A>>(topic: T, listener: (event: Notifications[T]) => void): Promise<() => Promise<void>>;

  /** Is told of each state of the daemon from now on; what it returns ends that. */
  onState(listener: (state: DaemonState) => void): () => void;

  /** Has the daemon tried again now, where the state is waiting or failed. */
  retry(): void;

  /** Ends the bridge of this page. Calls without an answer are rejected; changes that have begun complete. */
  close(): void;
}

/** The params, where the method needs any, and the options of a call. */
export type PageArguments<M extends MethodName> = {} extends Params<M>
  ? [params?: Params<M>, options?: CallOptions]
  : [params: Params<M>, options?: CallOptions];

/**
 * What the preload script exposes to the page, and all that it does. Messages
 * are texts, so that nothing but text crosses from one world to the other.
 */
export interface Bridge {
  /** Opens a way to the main process. Receive is called with each message, and with null when it is over. */
  open(receive: (message: string | null) => void): { send(message: string): void; close(): void };
}
