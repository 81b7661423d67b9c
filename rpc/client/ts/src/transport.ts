import { spawn } from "node:child_process";
import { connect } from "node:net";
import type { Readable, Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";

import { onAbort } from "./abort.js";
import type { Wire } from "./connection.js";
import { lost, unavailable, type CtxdError } from "./errors.js";
import { LineReader } from "./lines.js";
import { checkPath } from "./socket.js";

/** The two directions of a connection. */
export interface Streams {
  readonly input: Readable;
  readonly output: Writable;
  readonly over: Promise<CtxdError | undefined>;
  destroy(): void;
}

/** A wire over streams: a message is a line, since JSON escapes the line feeds within. */
export function overStreams({ input, output, over, destroy }: Streams): Wire {
  return {
    over,
    destroy,
    get ended() {
      return output.writableEnded;
    },
    listen(take, ready) {
      const lines = new LineReader();
      input.on("data", (chunk: Buffer) => lines.push(chunk).forEach(take));
      output.on("drain", ready);
    },
    send: (message) => output.write(message + "\n"),
    end: () => void output.end(),
  };
}

/** Connects to the socket at path. */
export async function dial(path: string, signal?: AbortSignal): Promise<Wire> {
  signal?.throwIfAborted();
  await checkPath(path);
  const socket = connect(path);
  let broken: CtxdError | undefined;
  const over = new Promise<CtxdError | undefined>((resolve) => {
    socket.once("close", () => resolve(broken));
  });
  await new Promise<void>((resolve, reject) => {
    const forget = signal && onAbort(signal, () => {
      socket.destroy();
      reject(signal.reason);
    });
    socket.once("connect", () => {
      forget?.();
      resolve();
    });
    // Stays for good: an error that nobody listens to ends the process.
    socket.on("error", (err) => {
      forget?.();
      broken = lost(err);
      reject(dialError(path, err));
    });
  });
  return overStreams({ input: socket, output: socket, over, destroy: () => void socket.destroy() });
}

/**
 * Runs a command whose standard input and output are the connection, such as
 * ctxd stdio. It ends when its input does.
 */
export function run(command: readonly string[]): Wire {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-kept);
  });
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    stream.on("error", () => {}); // the end of the process says more
  }
  const over = new Promise<CtxdError | undefined>((resolve) => {
    child.once("error", (err) => {
      resolve(unavailable(`${program} can't be run`, { hint: "install ctxd, or give the path of the program" }, err));
    });
    child.once("close", (code) => {
      // One that has spoken was a connection, which is lost now.
      resolve(code === 0 ? undefined : failed(program, code, said, child.stdout.readableDidRead));
    });
  });
  return overStreams({ input: child.stdout, output: child.stdin, over, destroy: () => void child.kill() });
}

// How much of a command's messages is kept, and how much of them an error
// shows, in characters.
const kept = 64 << 10;
const lastWords = 2048;

// The statuses with which ctxd ends when another daemon owns the data, as one does that is stopping, and when none answers,
// or it stopped.
const passing = [3, 5];

/**
 * The error of a command that ended with a status. What ctxd says is taken
 * apart, in either form in which it says it: with and without --json. Other
 * commands are quoted.
 */
export function failed(program: string, code: number | null, said: string, spoke = false): CtxdError {
  const text = stripVTControlCharacters(said).trim();
  const { message, hint } = fromJSON(text) ?? fromLines(text);
  return unavailable(message.slice(-lastWords) || `${program} ended with status ${code}`, {
    ...(hint ? { hint } : {}),
    retryable: spoke || (code !== null && passing.includes(code)),
  });
}

interface Words {
  message: string;
  hint?: string | undefined;
}

// fromJSON reads {"error": {"message": …, "hint": …, "log": […]}}.
function fromJSON(text: string): Words | undefined {
  try {
    const { message, hint, log = [] } = (JSON.parse(text) as { error: Words & { log?: string[] } }).error;
    if (typeof message === "string") {
      return { message: [message, ...log].join("\n"), hint };
    }
  } catch {
    // It is something else.
  }
  return undefined;
}

// fromLines reads "Error: …", and "Try: …" in the last line. Each may be absent.
function fromLines(text: string): Words {
  const [, message = text, hint] = /^Error: ([^]*?)(?:\nTry: (.*))?$/.exec(text) ?? [];
  return { message, hint };
}

function dialError(path: string, err: NodeJS.ErrnoException): CtxdError {
  switch (err.code) {
    case "ENOENT":
    case "ECONNREFUSED":
      return unavailable(`no daemon listens on the socket ${path}`, { hint: "start one with: ctxd serve", retryable: true }, err);
    case "EAGAIN":
      return unavailable("the daemon has too many connections waiting", { hint: "try again in a moment", retryable: true }, err);
    case "EACCES":
    case "EPERM":
      return unavailable(`the socket ${path} belongs to another user`, { hint: "choose your own with path, or $CTXD_SOCKET" }, err);
    default:
      return unavailable(`the socket ${path} can't be reached`, {}, err);
  }
}
