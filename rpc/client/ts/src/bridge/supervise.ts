import { execFile, spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { onAbort } from "../abort.js";
import type { Client } from "../client.js";
import { connect, isShared, replaceable } from "../connect.js";
import { guard } from "../connection.js";
import { CtxdError, lost, unavailable } from "../errors.js";
import type { ConnectOptions } from "../options.js";
import { ErrorCode } from "../protocol.js";
import { defaultPath } from "../socket.js";
import { failed } from "../transport.js";
import { tooOld } from "../version.js";
import type { DaemonState } from "./state.js";

/** Which daemon an app wants, and how it is started when there is none. */
export interface SuperviseOptions {
  /** The name of the app, for ctxd's log and ctxd inspect. */
  name: string;
  /** The version of the app. */
  version?: string | undefined;
  /** For whom the app reads, as in ConnectOptions. */
  audience?: ConnectOptions["audience"];
  /**
   * The oldest version of ctxd that will do. An older daemon that no other program uses is replaced by one that the app
   * starts; else the state is failed, with a VersionError.
   */
  minVersion?: string | undefined;
  /** The program ctxd: a path, or a name that is found in $PATH. ctxd when absent. */
  program?: string | undefined;
  /** What follows ctxd serve when the app starts it, such as ["--vault", folder]. */
  args?: readonly string[] | undefined;
  /** The path of the socket. When absent the program is asked, which reads its configuration, else see defaultPath. */
  path?: string | undefined;
  /** The environment of the program; that of this process when absent. */
  env?: { readonly [name: string]: string | undefined } | undefined;
  /** How long a daemon has to answer for the first time, in milliseconds. 30,000 when absent. */
  startWithinMs?: number | undefined;
  /** The first wait before a restart, in milliseconds; each failure in a row doubles it. 250 when absent. */
  backoffMs?: number | undefined;
  /** The longest wait, in milliseconds. 30,000 when absent. */
  maxBackoffMs?: number | undefined;
  /** So many failures in a row, and calls are refused rather than kept waiting. 5 when absent. */
  failAfter?: number | undefined;
}

/** The daemon of an app, kept running. */
export interface Daemon {
  readonly state: DaemonState;
  /** Is told of each state from now on; what it returns ends that. */
  onState(listener: (state: DaemonState) => void): () => void;
  /**
   * Makes a connection when the daemon answers, with the name and version of the
   * app. Like every connection it ends with the daemon: make a new one then.
   */
  connect(options?: Pick<ConnectOptions, "signal" | "name" | "onNotification" | "maxInFlight">): Promise<Client>;
  /** Tries again now, where the state is waiting or failed. */
  retry(): void;
  /**
   * Ends the supervision, and the daemon if the app started it and no other program uses it; else the daemon ends when
   * nobody has used it for a minute. Resolves when that is done.
   */
  stop(): Promise<void>;
}

/**
 * Keeps one daemon for an app: finds the one that runs or starts one, starts it
 * again when it dies, and refuses one of another version of the protocol with a
 * VersionError. It begins at once.
 */
export function supervise(options: SuperviseOptions): Daemon {
  return new Supervisor(options);
}

// How long a daemon that was told to stop may take, in milliseconds. It says
// that it stops within five seconds.
const stopWithin = 7000;

// A daemon that ran for so many milliseconds was well.
const longEnough = 10_000;

class Supervisor implements Daemon {
  state: DaemonState = { state: "starting" };

  readonly #options: SuperviseOptions;
  readonly #listeners = new Set<(state: DaemonState) => void>();
  readonly #over = new AbortController();
  readonly #done: Promise<void>;
  #path: string | undefined;
  #child: Child | undefined; // the daemon that we started
  #watch: Client | undefined; // ends when the daemon does
  #retry: () => void = () => undefined;

  constructor(options: SuperviseOptions) {
    this.#options = options;
    this.#path = options.path;
    this.#done = this.#run();
  }

  onState(listener: (state: DaemonState) => void): () => void {
    const own = (state: DaemonState) => listener(state);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  async connect(options: Pick<ConnectOptions, "signal" | "name" | "onNotification" | "maxInFlight"> = {}): Promise<Client> {
    for (;;) {
      await this.#running(options.signal);
      const watch = this.#watch;
      try {
        return await this.#dial(options);
      } catch (err) {
        // Either the daemon is gone, which the other connection tells in a
        // moment, or it takes no more connections.
        if (!(err instanceof CtxdError) || !err.retryable || !(await endsSoon(watch))) {
          throw err;
        }
      }
    }
  }

  retry(): void {
    this.#retry();
  }

  async stop(): Promise<void> {
    this.#over.abort(stopped());
    this.#retry();
    await this.#done;
  }

  #enter(state: DaemonState): void {
    this.state = state;
    for (const listener of [...this.#listeners]) {
      guard(listener, state);
    }
  }

  // running resolves in the state running, and is rejected in failed and stopped.
  #running(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (state: DaemonState) => {
        switch (state.state) {
          case "running":
            return settle(resolve);
          case "failed":
            return settle(() => reject(state.error));
          case "stopped":
            return settle(() => reject(stopped()));
          default:
            return undefined;
        }
      };
      const settle = (how: () => void) => {
        forget();
        off();
        how();
      };
      signal?.throwIfAborted();
      const off = this.onState(look);
      const forget = signal === undefined ? () => undefined : onAbort(signal, () => settle(() => reject(signal.reason)));
      look(this.state);
    });
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#over.signal.aborted) {
      const began = Date.now();
      let error: CtxdError;
      try {
        error = await this.#live();
        failures = Date.now() - began > longEnough ? 0 : failures;
      } catch (err) {
        error = err instanceof CtxdError ? err : unavailable("the daemon can't be started", {}, err);
        await this.#child?.stop(undefined); // such as one of another version of the protocol
      }
      this.#watch = undefined;
      if (!this.#over.signal.aborted) {
        await this.#wait(error, ++failures);
      }
    }
    await this.#child?.stop(this.#watch);
    this.#enter({ state: "stopped" });
  }

  // live is one life of the daemon; it returns why that ended.
  async #live(): Promise<CtxdError> {
    this.#enter({ state: "starting" });
    this.#path ??= await this.#askForPath();
    const client = (await this.#findNew()) ?? (await this.#start());
    const old = tooOld(client.server, this.#options.minVersion);
    if (old !== undefined) {
      client.destroy();
      throw old;
    }
    const started = await this.#isOurs(client);
    this.#watch = client;
    this.#enter({ state: "running", server: client.server, started });
    const forget = onAbort(this.#over.signal, () => void this.#end(client));
    const reason = await client.closed;
    forget();
    return reason ?? lost();
  }

  // isOurs tells whether the daemon is the one that we started. Another app may
  // have been faster: then ours gives up, if it has not done so yet.
  async #isOurs(client: Client): Promise<boolean> {
    if (this.#child?.alive !== true) {
      return false;
    }
    const { pid } = await client.call("admin.health");
    if (pid === this.#child.pid) {
      return true;
    }
    await this.#child.stop(undefined);
    return false;
  }

  // end stops what we started, and takes leave of what we found.
  async #end(client: Client): Promise<void> {
    await this.#child?.stop(client);
    client.destroy();
  }

  async #wait(error: CtxdError, failures: number): Promise<void> {
    const hopeless = !error.retryable || failures >= (this.#options.failAfter ?? 5);
    const retryInMs = backoff(error.retryable ? failures : Infinity, this.#options);
    const waited = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, retryInMs);
      this.#retry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#enter({ state: hopeless ? "failed" : "waiting", error, retryInMs });
    await waited;
    this.#retry = () => undefined;
  }

  #dial(options: ConnectOptions = {}): Promise<Client> {
    const { name, version, audience } = this.#options;
    return connect({ name, version, audience, path: this.#path, ...options });
  }

  // findNew is find for a daemon that is not too old, or can't be replaced.
  async #findNew(): Promise<Client | undefined> {
    const client = await this.#find();
    if (client !== undefined && tooOld(client.server, this.#options.minVersion) && (await replaceable(client))) {
      return undefined;
    }
    return client;
  }

  // find connects to a daemon that runs already.
  async #find(): Promise<Client | undefined> {
    try {
      return await this.#dial({ signal: this.#over.signal });
    } catch (err) {
      if (err instanceof CtxdError && err.retryable) {
        return undefined;
      }
      throw err;
    }
  }

  async #start(): Promise<Client> {
    const { program = "ctxd", args = [], env, startWithinMs = 30_000 } = this.#options;
    await this.#child?.stop(undefined); // it answers no more, and holds the store
    const socket = ["--socket", this.#path ?? defaultPath()];
    // Without its app the daemon ends by itself.
    const child = new Child(program, ["serve", "--detached", ...socket, "--idle-exit", "1m", ...args], env);
    this.#child = child;
    const deadline = Date.now() + startWithinMs;
    for (let wait = 20; ; wait = Math.min(2 * wait, 200)) {
      const alive = child.alive;
      const client = await this.#find();
      if (client !== undefined) {
        return client;
      }
      if (!alive) { // nobody answers who could have been faster than it
        throw child.error;
      }
      if (Date.now() > deadline) {
        await child.stop(undefined);
        throw unavailable(`${program} does not answer`, { hint: "look into its log: ctxd inspect log", retryable: true });
      }
      await child.orAfter(wait, this.#over.signal);
    }
  }

  async #askForPath(): Promise<string> {
    const { program = "ctxd", env } = this.#options;
    try {
      const { stdout } = await promisify(execFile)(program, ["config", "socket"], { windowsHide: true, env: { ...env ?? process.env } });
      return stdout.trim() || defaultPath();
    } catch {
      return defaultPath(); // starting it says what is wrong with it
    }
  }
}

// How many files of last words this process has made.
let wordFiles = 0;

// Child is a daemon that the app started. It belongs to a session of its own, so that other programs keep it when the app
// ends; what it says goes to a file, since a pipe would break with the app, and end the daemon with its next word.
class Child {
  readonly #process: ChildProcess;
  readonly #ended: Promise<void>;
  #error: CtxdError | undefined;
  #stopping: Promise<void> | undefined;

  constructor(program: string, args: string[], env: SuperviseOptions["env"]) {
    const file = join(tmpdir(), `ctxd-start-${process.pid}-${++wordFiles}`);
    const words = openSync(file, "wx", 0o600);
    const child = spawn(program, args, {
      stdio: ["ignore", "ignore", words],
      windowsHide: true,
      detached: true,
      env: { ...env ?? process.env },
    });
    closeSync(words);
    this.#process = child;
    this.#ended = new Promise((resolve) => {
      const over = (error: CtxdError) => {
        this.#error ??= error;
        rmSync(file, { force: true });
        resolve();
      };
      child.once("error", (err) => {
        over(unavailable(`${program} can't be run`, { hint: "install ctxd, or give the path of the program" }, err));
      });
      child.once("close", (code) => over(failed(program, code, read(file).slice(-lastWords))));
    });
    this.#forget = () => rmSync(file, { force: true });
  }

  readonly #forget: () => void;

  get alive(): boolean {
    return this.#error === undefined;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Why it ended. */
  get error(): CtxdError {
    return this.#error ?? lost();
  }

  /** Waits, at most until it has ended or the signal says so. */
  async orAfter(ms: number, signal: AbortSignal): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let forget: () => void = () => undefined;
    await Promise.race([
      this.#ended,
      new Promise<void>((resolve, reject) => {
        timer = setTimeout(resolve, ms);
        forget = onAbort(signal, () => reject(signal.reason));
      }),
    ]);
    clearTimeout(timer);
    forget();
    signal.throwIfAborted();
  }

  /** Has it stop in good order; there are no signals for that on Windows. */
  stop(client: Client | undefined): Promise<void> {
    this.#stopping ??= this.#stop(client);
    return this.#stopping;
  }

  async #stop(client: Client | undefined): Promise<void> {
    if (!this.alive) {
      return;
    }
    if (client?.open && (await isShared(client))) {
      this.#process.unref(); // it ends when nobody uses it any more
      this.#forget();
      return;
    }
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), stopWithin);
    if (client?.open) {
      client.call("admin.stop").catch(() => this.#process.kill());
    } else {
      this.#process.kill();
    }
    await this.#ended;
    clearTimeout(timer);
  }
}

// read returns what a file says, which may have been removed.
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

// How much of what a daemon says when it ends is kept, in characters.
const lastWords = 64 << 10;

/** How long a daemon that failed so many times in a row is left alone, in milliseconds. */
export function backoff(failures: number, options: Pick<SuperviseOptions, "backoffMs" | "maxBackoffMs"> = {}): number {
  const { backoffMs = 250, maxBackoffMs = 30_000 } = options;
  return Math.min(backoffMs * 2 ** (failures - 1), maxBackoffMs);
}

/** Whether a connection ends within a second. */
async function endsSoon(client: Client | undefined): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, 1000, false)));
  try {
    return await Promise.race([late, client === undefined || client.closed.then(() => true)]);
  } finally {
    clearTimeout(timer);
  }
}

function stopped(): CtxdError {
  return new CtxdError(ErrorCode.Cancelled, "the app has stopped the daemon", { kind: "cancelled" });
}
