import { onAbort } from "./abort.js";
import { CtxdError, lost } from "./errors.js";
import type { CallOptions } from "./options.js";
import { ErrorCode, type ErrorData, type ProgressParams } from "./protocol.js";

/** What a connection speaks over, one message at a time. */
export interface Wire {
  /** Resolves when nothing more can come, with why when that is known. */
  readonly over: Promise<CtxdError | undefined>;
  /** Whether end was called. */
  readonly ended: boolean;
  /** Has take called with each message that comes, and ready when there is room for another one after send said no. */
  listen(take: (message: string) => void, ready: () => void): void;
  /** Sends a message. False when the next one should wait until there is room. */
  send(message: string): boolean;
  /** Says that nothing more is sent. */
  end(): void;
  /** Ends both directions at once. */
  destroy(): void;
}

/** What the daemon sends. */
interface Message {
  id?: unknown;
  method?: unknown;
  params?: unknown;
  result?: unknown;
  error?: { code: number; message: string; data?: ErrorData };
}

interface Call {
  readonly id: number;
  readonly method: string;
  readonly options: CallOptions;
  text: string; // until it is sent
  withdrawn: boolean;
  resolve(result: unknown): void;
  reject(reason: unknown): void;
}

// How long the daemon's answer to a cancel, and its end after ours, is waited
// for, in milliseconds.
const patience = 2000;

/**
 * Calls and notifications over a wire. Calls are sent in their order, as
 * fast as the daemon reads and at most so many unanswered ones at a time as it
 * takes; the others wait here.
 */
export class Connection {
  /** Resolves when the connection is over, with why unless we ended it. */
  readonly closed: Promise<CtxdError | undefined>;

  readonly #wire: Wire;
  readonly #maxInFlight: number;
  readonly #onNotification: (method: string, params: unknown) => void;

  #lastId = 0;
  #urgent: string[] = []; // notifications, which go before the calls that wait
  readonly #waiting = new Map<number, Call>(); // in the order in which they were made
  readonly #sent = new Map<number, Call>(); // without an answer so far
  #blocked = false; // the daemon doesn't read as fast as we write
  #ending = false; // close was called
  #gone = false; // destroy was called
  #error: CtxdError | undefined; // why no call can be made any more

  constructor(wire: Wire, maxInFlight: number, onNotification: (method: string, params: unknown) => void) {
    this.#wire = wire;
    this.#maxInFlight = maxInFlight;
    this.#onNotification = onNotification;
    this.closed = wire.over.then((reason) => this.#over(reason));
    wire.listen((text) => this.#read(text), () => {
      this.#blocked = false;
      this.#pump();
    });
  }

  /** Makes a call. Params must be an object that JSON can hold. */
  request(method: string, params: object, options: CallOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      options.signal?.throwIfAborted();
      if (this.#error !== undefined) {
        throw this.#error;
      }
      const id = ++this.#lastId;
      const own = options.onProgress === undefined ? params : { ...params, progressToken: id };
      const text = encode({ jsonrpc: "2.0", id, method, params: own });
      const call: Call = { id, method, options, text, withdrawn: false, resolve, reject };
      this.#waiting.set(id, call);
      this.#watch(call);
      this.#pump();
    });
  }

  /** Sends a message that nobody answers, before the calls that wait. */
  notify(method: string, params: object): void {
    this.#urgent.push(encode({ jsonrpc: "2.0", method, params }));
    this.#pump();
  }

  /** Ends the connection when every call is answered. */
  end(): void {
    this.#ending = true;
    this.#error ??= closedError();
    this.#pump();
  }

  /** Ends the connection at once; calls without an answer fail with reason. */
  destroy(reason: CtxdError = closedError()): void {
    this.#gone = true;
    this.#error = reason;
    this.#rejectAll(reason);
    this.#wire.destroy();
  }

  /** Whether calls can be made. */
  get open(): boolean {
    return this.#error === undefined;
  }

  get #unanswered(): number {
    return this.#waiting.size + this.#sent.size;
  }

  // pump writes until the daemon has to catch up, or all is said.
  #pump(): void {
    if (this.#wire.ended) {
      return;
    }
    while (!this.#blocked) {
      const text = this.#urgent.shift() ?? this.#nextCall();
      if (text === undefined) {
        break;
      }
      this.#blocked = !this.#wire.send(text);
    }
    if (this.#ending && this.#urgent.length + this.#unanswered === 0) {
      this.#wire.end();
      // The other end should go too now. If it doesn't, there is nothing to wait for.
      const timer = setTimeout(() => this.#wire.destroy(), patience);
      void this.closed.then(() => clearTimeout(timer));
    }
  }

  #nextCall(): string | undefined {
    if (this.#sent.size >= this.#maxInFlight) {
      return undefined;
    }
    for (const call of this.#waiting.values()) {
      this.#waiting.delete(call.id);
      this.#sent.set(call.id, call);
      const text = call.text;
      call.text = "";
      return text;
    }
    return undefined;
  }

  // watch withdraws a call when its signal says so, until it is settled.
  #watch(call: Call): void {
    const { signal } = call.options;
    if (signal === undefined) {
      return;
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    const forget = onAbort(signal, () => {
      call.withdrawn = true;
      if (this.#waiting.delete(call.id)) {
        call.reject(signal.reason);
        this.#pump(); // it may have been the last that close waited for
        return;
      }
      this.notify("$/cancelRequest", { id: call.id });
      timer = setTimeout(() => call.reject(signal.reason), patience);
    });
    const { resolve, reject } = call;
    const settled = () => {
      clearTimeout(timer);
      forget();
    };
    call.resolve = (result) => {
      settled();
      resolve(result);
    };
    call.reject = (reason) => {
      settled();
      reject(reason);
    };
  }

  #read(text: string): void {
    if (this.#gone) {
      return;
    }
    try {
      this.#take(parse(text));
    } catch (err) {
      this.destroy(lost(err));
    }
  }

  #take(message: Message): void {
    if (typeof message.method === "string") {
      this.#notified(message.method, message.params);
      return;
    }
    const { id, error } = message;
    if (typeof id === "number") {
      this.#answered(id, message);
    } else if (error !== undefined) {
      // It is about bytes that we sent, and the call that they were of can't be
      // told: the connection is of no use any more.
      this.destroy(new CtxdError(error.code, error.message, error.data));
    }
  }

  #answered(id: number, message: Message): void {
    const call = this.#sent.get(id);
    if (call === undefined) {
      return;
    }
    this.#sent.delete(id);
    const { error } = message;
    if (error === undefined) {
      call.resolve(message.result);
    } else if (call.withdrawn && error.code === ErrorCode.Cancelled) {
      call.reject(call.options.signal?.reason);
    } else {
      call.reject(new CtxdError(error.code, error.message, { ...error.data, method: call.method }));
    }
    this.#pump();
  }

  #notified(method: string, params: unknown): void {
    if (method === "$/progress") {
      const progress = params as ProgressParams;
      const call = this.#sent.get(progress?.token as number);
      if (call?.options.onProgress !== undefined) {
        if (!call.withdrawn) {
          guard(call.options.onProgress, progress.value);
        }
        return;
      }
    }
    this.#onNotification(method, params);
  }

  // over settles what is left when nothing more can come.
  #over(reason: CtxdError | undefined): CtxdError | undefined {
    const ours = this.#unanswered === 0 ? this.#error : undefined;
    const why = ours ?? reason ?? lost();
    this.#error ??= why;
    this.#rejectAll(why);
    this.#wire.destroy();
    return ours?.kind === "cancelled" ? undefined : why;
  }

  #rejectAll(reason: CtxdError): void {
    const calls = [...this.#sent.values(), ...this.#waiting.values()];
    this.#sent.clear();
    this.#waiting.clear();
    for (const call of calls) {
      call.reject(reason);
    }
  }
}

/** Calls a listener; what it throws is an uncaught error, not one of ours. */
export function guard<T>(listener: (value: T) => void, value: T): void {
  try {
    listener(value);
  } catch (err) {
    queueMicrotask(() => {
      throw err;
    });
  }
}

function parse(text: string): Message {
  const message: unknown = JSON.parse(text);
  if (typeof message !== "object" || message === null) {
    throw new SyntaxError("a message is an object");
  }
  return message;
}

function encode(message: object): string {
  try {
    return JSON.stringify(message);
  } catch (err) {
    throw new CtxdError(
      ErrorCode.InvalidParams,
      "cannot encode the params as JSON",
      { kind: "invalid_params" },
      { cause: err },
    );
  }
}

function closedError(): CtxdError {
  return new CtxdError(ErrorCode.Cancelled, "the connection was closed", { kind: "cancelled" });
}
