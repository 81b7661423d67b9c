/**
 * The page's side of the bridge. It needs neither Node nor Electron: what the
 * preload script exposes, or a port, is enough.
 */
import type { Chat } from "../chat.js";
import { guard, type Wire } from "../connection.js";
import { unavailable, type CtxdError } from "../errors.js";
import type { CallOptions } from "../options.js";
import type { Notifications, Result, Topic } from "../protocol.js";
import { Session } from "../session.js";
import type { Allowed, Api, Bridge, Page, PageArguments } from "./api.js";
import { retryMethod, stateFromWire, stateMethod, type DaemonState } from "./state.js";

export type { Chat, ChatAnswer } from "../chat.js";
export { CtxdError } from "../errors.js";
export type { CallOptions } from "../options.js";
export * from "../protocol.js";
export type { Allowed, AllowedTopic, Api, Bridge, Page, PageArguments, PageMethod } from "./api.js";
export type { DaemonState } from "./state.js";

/**
 * Connects the page with the main process, at once: whether there is a daemon
 * is told by the state. The type argument is that of the app's Api.
 *
 *     const ctxd = connect<typeof api>(window.ctxd);
 */
export function connect<A extends Api>(bridge: Bridge): Page<A> {
  return new ConnectedPage<A>(bridge) as unknown as Page<A>; // chat is there; its type depends on A
}

/** A port of a browser or of Node: one end of a MessageChannel, or a worker's parentPort. */
export interface Port {
  postMessage(message: string): void;
  close(): void;
  start?(): void;
  /** Of browsers, and of Node's. */
  addEventListener?(type: "message" | "close" | "messageerror", listener: (event: { data?: unknown }) => void): void;
}

/** A bridge over a port whose other end the main process serves, for a worker of the page or a worker thread. It can be opened once. */
export function overPort(port: Port): Bridge {
  return {
    open(receive) {
      port.addEventListener?.("message", ({ data }) => {
        if (typeof data === "string") {
          receive(data);
        }
      });
      port.addEventListener?.("close", () => receive(null));
      port.start?.();
      return { send: (message) => port.postMessage(message), close: () => port.close() };
    },
  };
}

class ConnectedPage<A extends Api> {
  state: DaemonState = { state: "starting" };

  readonly #session: Session;
  readonly #listeners = new Set<(state: DaemonState) => void>();

  constructor(bridge: Bridge) {
    this.#session = new Session(wireOver(bridge), 64, (method, params) => {
      if (method === stateMethod) {
        this.#enter(stateFromWire(params));
      }
    });
    void this.closed.then(() => this.#enter({ state: "stopped" }));
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

  call<M extends Allowed<A>>(method: M, ...[params, options]: PageArguments<M>): Promise<Result<M>> {
    return this.#session.request(method, params, options as CallOptions | undefined) as Promise<Result<M>>;
  }

  subscribe<T extends Topic>(topic: T, listener: (event: Notifications[T]) => void): Promise<() => Promise<void>> {
    return this.#session.subscribe(topic, listener);
  }

  onState(listener: (state: DaemonState) => void): () => void {
    const own = (state: DaemonState) => listener(state);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  retry(): void {
    this.#session.connection.notify(retryMethod, {});
  }

  close(): void {
    this.#session.connection.destroy();
  }

  #enter(state: DaemonState): void {
    if (this.state.state === "stopped") {
      return;
    }
    this.state = state;
    for (const listener of [...this.#listeners]) {
      guard(listener, state);
    }
    if (state.state === "stopped" && this.open) {
      this.#session.connection.destroy(unavailable("the app has stopped the daemon"));
    }
  }
}

// wireOver is a wire over what the preload script exposes. A port takes all
// that it is given, so there is no waiting for room.
function wireOver(bridge: Bridge): Wire {
  let settle: (reason: CtxdError | undefined) => void = () => undefined;
  const over = new Promise<CtxdError | undefined>((resolve) => (settle = resolve));
  let take: (message: string) => void = () => undefined;
  const way = bridge.open((message) => {
    if (message === null) {
      settle(unavailable("the bridge to the main process is gone"));
    } else {
      take(message);
    }
  });
  let ended = false;
  const destroy = () => {
    if (!ended) {
      ended = true;
      way.close();
    }
    settle(undefined);
  };
  return {
    over,
    get ended() {
      return ended;
    },
    listen(listener) {
      take = listener;
    },
    send(message) {
      way.send(message);
      return true;
    },
    end: destroy,
    destroy,
  };
}
