import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";

import { connect, CtxdError, type Client, type ConnectOptions } from "ctxd-client";

/** The program under test, built by whoever runs the tests. */
export const program = process.env["CTXD_BIN"] ?? "ctxd";

/** A daemon of the real program, with a store of its own. */
export interface Daemon {
  /** A folder for the test; it goes with the daemon. */
  dir: string;
  /** Its socket. */
  path: string;
  /** The environment of programs that belong to it. */
  env: NodeJS.ProcessEnv;
  connect(options?: ConnectOptions): Promise<Client>;
  stop(): Promise<void>;
}

/** Makes the folder and the environment of a daemon without starting it. */
export async function home(): Promise<Pick<Daemon, "dir" | "path" | "env">> {
  // The path of a socket has to be short.
  const dir = await mkdtemp(join(tmpdir(), "ctxd-ts-"));
  const path = process.platform === "win32" ? `\\\\.\\pipe\\${dir.split("\\").at(-1)}` : join(dir, "s");
  const env = { ...process.env, HOME: dir, TMPDIR: dir, CTXD_SOCKET: path, CTXD_DATA: join(dir, "data") };
  await mkdir(join(dir, "xdg"));
  return { dir, path, env: { ...env, XDG_CONFIG_HOME: join(dir, "xdg"), XDG_RUNTIME_DIR: join(dir, "xdg") } };
}

/** Starts a daemon, with settings in its environment, and waits until it answers. */
export async function start(settings: NodeJS.ProcessEnv = {}): Promise<Daemon> {
  const at = await home();
  Object.assign(at.env, settings);
  const child = spawn(program, ["serve", "--idle-exit", "1m"], { env: at.env, stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  const ended = once(child, "exit");
  await answering(at.path, child, () => log);
  const clients: Client[] = [];
  return {
    ...at,
    async connect(options = {}) {
      const client = await connect({ path: at.path, name: "test", ...options });
      clients.push(client);
      return client;
    },
    async stop() {
      clients.forEach((client) => client.destroy());
      child.kill();
      await ended;
      await rm(at.dir, { recursive: true });
    },
  };
}

// answering asks again and again until a daemon answers on path.
async function answering(path: string, child: ChildProcess, log: () => string): Promise<void> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    try {
      const client = await connect({ path });
      return await client.close();
    } catch (err) {
      if (!(err instanceof CtxdError) || !err.retryable || Date.now() > deadline || child.exitCode !== null) {
        throw new Error(`the daemon does not answer:\n${log()}`, { cause: err });
      }
      await after(10);
    }
  }
}

/** Returns what a promise is rejected with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => Promise.reject(new Error(`it succeeded with ${JSON.stringify(value)}`)),
    (err: unknown) => err,
  );
}

/** Returns the CtxdError that a promise is rejected with. */
export async function failure(promise: Promise<unknown>): Promise<CtxdError> {
  const err = await rejection(promise);
  if (!(err instanceof CtxdError)) {
    throw err;
  }
  return err;
}
