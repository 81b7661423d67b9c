import { onAbort } from "./abort.js";
import type { CallOptions } from "./options.js";
import type { ChatDelta, ChatPage, ChatSendParams, ChatSent } from "./protocol.js";

/** Calls a method; the chat needs no more of a connection. */
type Request = (method: string, params: object, options: CallOptions) => Promise<unknown>;

/** Has messages answered. */
export interface Chat {
  /**
   * Says something and has a language model answer. What comes of the answer is
   * iterated over while it is given:
   *
   *     const answer = ctxd.chat.send({ text });
   *     for await (const delta of answer) show(delta);
   *     const { content } = await answer.result;
   *
   * The call is made at once, whether or not anybody iterates. The signal, and
   * leaving the loop before its end, stop the answer; what came of it is stored.
   * A loop that is not left ends when the answer has: with the error of the
   * call, if it failed.
   *
   * A client that follows conversations (chat.follow) gets the deltas of others
   * by onNotification, and should name the conversation here.
   */
  send(params: ChatSendParams, options?: Pick<CallOptions, "signal">): ChatAnswer;
}

/** An answer that is being given. It can be iterated over once. */
export interface ChatAnswer extends AsyncIterable<ChatDelta> {
  /** The answer as it is stored. Rejected with a CtxdError, or the reason of the signal. */
  readonly result: Promise<ChatSent>;
  /** What comes of it. The value at the end is the result. */
  [Symbol.asyncIterator](): AsyncIterator<ChatDelta, ChatSent | undefined, undefined>;
}

/** The answers that are given to the calls of one connection. */
export class Answers implements Chat {
  readonly #request: Request;
  readonly #expected = new Set<Answer>(); // those of which no delta has come
  readonly #begun = new Map<string, Answer>(); // by the id of the answer
  #nameless: Promise<void> = Promise.resolve(); // until the last that names no conversation has begun

  constructor(request: Request) {
    this.#request = request;
  }

  send(params: ChatSendParams, options: Pick<CallOptions, "signal"> = {}): ChatAnswer {
    const answer = new Answer(options.signal);
    answer.settle(this.#call(answer, params));
    return answer;
  }

  /** Gives a delta to the answer that it is of. False when it is of another one's. */
  take(delta: ChatDelta): boolean {
    let answer = this.#begun.get(delta.messageId);
    if (answer === undefined && delta.seq <= 1) {
      answer = this.#claim(delta.conversationId);
      if (answer !== undefined) {
        this.#expected.delete(answer);
        this.#begun.set(delta.messageId, answer);
      }
    }
    answer?.push(delta);
    return answer !== undefined;
  }

  // claim returns the answer that begins in a conversation: a conversation gives
  // one at a time, and one call at a time is on its way that names none.
  #claim(conversationId: string): Answer | undefined {
    const all = [...this.#expected];
    return all.find((a) => a.conversationId === conversationId) ?? all.find((a) => a.conversationId === undefined);
  }

  async #call(answer: Answer, params: ChatSendParams): Promise<ChatSent> {
    const { signal } = answer;
    let named = params;
    if (params.conversationId === undefined) {
      const before = this.#nameless;
      this.#nameless = before.then(() => answer.begun);
      await before;
    } else if (!isId(params.conversationId)) { // deltas have the id, not the handle
      const found = await this.#request("chat.get", { ref: params.conversationId, limit: 1 }, { signal });
      answer.conversationId = (found as ChatPage).conversation.id;
      named = { ...params, conversationId: answer.conversationId };
    } else {
      answer.conversationId = params.conversationId;
    }
    this.#expected.add(answer);
    try {
      return (await this.#request("chat.send", named, { signal })) as ChatSent;
    } finally {
      this.#expected.delete(answer);
      for (const [id, one] of this.#begun) {
        if (one === answer) {
          this.#begun.delete(id);
        }
      }
    }
  }
}

class Answer implements ChatAnswer {
  conversationId: string | undefined;
  result!: Promise<ChatSent>;
  /** Resolves when the first delta has come, or the call is over. */
  readonly begun: Promise<void>;

  readonly #stop = new AbortController();
  readonly #forget: () => void;
  readonly #waiting: ChatDelta[] = [];
  #wake: () => void = () => undefined;
  #begin!: () => void;
  #over = false;
  #iterated = false;

  constructor(signal: AbortSignal | undefined) {
    this.begun = new Promise((resolve) => (this.#begin = resolve));
    if (signal?.aborted) {
      this.#stop.abort(signal.reason);
    }
    this.#forget = signal === undefined ? () => undefined : onAbort(signal, () => this.#stop.abort(signal.reason));
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  push(delta: ChatDelta): void {
    this.#waiting.push(delta);
    this.#begin();
    this.#wake();
  }

  settle(call: Promise<ChatSent>): void {
    const end = () => {
      this.#over = true;
      this.#forget();
      this.#begin();
      this.#wake();
    };
    this.result = call.finally(end);
    this.result.catch(() => undefined); // who iterates gets the error there
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ChatDelta, ChatSent | undefined, undefined> {
    if (this.#iterated) {
      throw new TypeError("an answer can be iterated over once");
    }
    this.#iterated = true;
    try {
      for (;;) {
        const delta = this.#waiting.shift();
        if (delta !== undefined) {
          yield delta;
        } else if (this.#over) {
          return await this.result;
        } else {
          await new Promise<void>((resolve) => (this.#wake = resolve));
        }
      }
    } finally {
      if (!this.#over) {
        this.#stop.abort();
      }
    }
  }
}

function isId(conversation: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(conversation);
}
