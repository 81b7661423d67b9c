import type { Chat } from "./chat.js";
import type { CtxdError } from "./errors.js";
import type { CallOptions } from "./options.js";
import type { InitializeResult, MethodName, Notifications, Params, Result, Topic } from "./protocol.js";

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
