import { spawn } from "node:child_process";
import { connect } from "node:net";
import type { Readable, Writable } from "node:stream";

import { onAbort } from "./abort.js";
import { unavailable, type CtxdError } from "./errors.js";
import { checkPath } from "./socket.js";

/** The two directions of a connection. */
export interface Transport {
  readonly input: Readable;
  readonly output: Writable;
  /** Resolves when nothing more can come, with why when that is known. */
  readonly over: Promise<CtxdError | undefined>;
  /** Ends both directions at once. */
  destroy(): void;
}

/** Connects to the socket at path. */
export async function dial(path: string, signal?: AbortSignal): Promise<Transport> {
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
      reject(dialError(err));
    });
  });
  return { input: socket, output: socket, over, destroy: () => socket.destroy() };
}

/**
 * Runs a command whose standard input and output are the connection, such as
 * ctxd stdio. It ends when its input does.
 */
export function run(command: readonly string[]): Transport {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-lastWords);
  });
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    stream.on("error", () => {}); // the end of the process says more
  }
  const over = new Promise<CtxdError | undefined>((resolve) => {
    child.once("error", (err) => {
      resolve(unavailable(`${program} can't be run`, { hint: "install ctxd, or give the path of the program" }, err));
    });
    child.once("close", (code) => {
      resolve(code === 0 ? undefined : unavailable(said.trim() || `${program} ended with status ${code}`));
    });
  });
  return { input: child.stdout, output: child.stdin, over, destroy: () => void child.kill() };
}

// As much of a command's messages as an error shows, in characters.
const lastWords = 2048;

/** The error of a connection that broke. */
export function lost(cause?: unknown): CtxdError {
  return unavailable(
    "the connection to the daemon is lost",
    { hint: "see whether it runs with: ctxd inspect status", retryable: true },
    cause,
  );
}

function dialError(err: NodeJS.ErrnoException): CtxdError {
  switch (err.code) {
    case "ENOENT":
    case "ECONNREFUSED":
      return unavailable("no daemon listens on the socket", { hint: "start one with: ctxd serve", retryable: true }, err);
    case "EAGAIN":
      return unavailable("the daemon has too many connections waiting", { hint: "try again in a moment", retryable: true }, err);
    case "EACCES":
    case "EPERM":
      return unavailable("the socket belongs to another user", { hint: "choose your own with path, or $CTXD_SOCKET" }, err);
    default:
      return unavailable("the socket can't be reached", {}, err);
  }
}
