import { Answers, type Chat } from "./chat.js";
import { Connection, guard, type Wire } from "./connection.js";
import type { CallOptions } from "./options.js";
import type { ChatDelta, Notifications, Topic } from "./protocol.js";

/** What is done with a notification that nobody listens to. */
export type OnNotification = (method: string, params: unknown) => void;

/**
 * A connection and what it is used for: calls, answers, topics. It knows
 * nothing of what is at the other end of the wire, nor of Node.
 */
export class Session {
  readonly connection: Connection;
  readonly chat: Chat;

  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #rest: OnNotification | undefined;

  constructor(wire: Wire, maxInFlight: number, rest: OnNotification | undefined) {
    this.#rest = rest;
    const answers = new Answers((method, params, options) => this.request(method, params, options));
    this.chat = answers;
    this.connection = new Connection(wire, maxInFlight, (method, params) => {
      if (method !== "chat.delta" || !answers.take(params as ChatDelta)) {
        this.#deliver(method, params);
      }
    });
  }

  request(method: string, params: object = {}, options: CallOptions = {}): Promise<unknown> {
    return this.connection.request(method, params, options);
  }

  async subscribe<T extends Topic>(topic: T, listener: (event: Notifications[T]) => void): Promise<() => Promise<void>> {
    const of = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, of);
    const own: Listener = { listen: listener };
    of.add(own);
    try {
      await this.request("events.subscribe", { topics: [topic] });
    } catch (err) {
      of.delete(own);
      throw err;
    }
    return async () => {
      if (of.delete(own) && of.size === 0 && this.connection.open) {
        await this.request("events.unsubscribe", { topics: [topic] });
      }
    };
  }

  #deliver(method: string, params: unknown): void {
    const of = this.#listeners.get(method);
    for (const { listen } of [...(of ?? [])]) {
      guard(listen, params as never);
    }
    if (of === undefined || of.size === 0) {
      guard(() => this.#rest?.(method, params), undefined);
    }
  }
}

type Listener = { listen: (event: never) => void };
