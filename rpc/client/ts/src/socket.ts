import { lstat, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

import { unavailable } from "./errors.js";

// The least of what the operating systems take, as in the daemon.
const maxPath = 103;

/**
 * Where the daemon of this user listens: $CTXD_SOCKET, else ctxd/ctxd.sock in
 * $XDG_RUNTIME_DIR, else ctxd-UID/ctxd.sock in $TMPDIR; a named pipe on Windows.
 * A path in ctxd's configuration file is not looked up.
 */
export function defaultPath(): string {
  const { CTXD_SOCKET: named, XDG_RUNTIME_DIR: runtime, TMPDIR: temp } = process.env;
  if (named) {
    return named;
  }
  if (process.platform === "win32") {
    return `\\\\.\\pipe\\ctxd-${userInfo().username}`;
  }
  if (runtime && isAbsolute(runtime)) {
    return join(runtime, "ctxd", "ctxd.sock");
  }
  return join(temp || "/tmp", `ctxd-${process.getuid?.()}`, "ctxd.sock");
}

/**
 * Refuses a path that is too long, and a folder that somebody else could have
 * put a socket of their own in. Node can't ask who is at the other end, so the
 * folder has to answer for it: the daemon makes it for its user alone. Where
 * nothing is there yet, connecting says so.
 */
export async function checkPath(path: string): Promise<void> {
  const size = Buffer.byteLength(path);
  if (size > maxPath) {
    throw unavailable(`the socket path has ${size} bytes, at most ${maxPath} are allowed`, {
      hint: "choose a shorter path, or $CTXD_SOCKET",
    });
  }
  const uid = process.getuid?.();
  if (uid === undefined) {
    return; // Windows: the pipe lets its own user in and nobody else
  }
  const folder = dirname(path);
  for (const look of [lstat, stat]) {
    const info = await look(folder).catch(() => undefined);
    if (info === undefined) {
      return;
    }
    if (info.uid !== uid) {
      throw unavailable(`the directory of the socket, "${folder}", belongs to user ${info.uid}, not to you`, {
        hint: "choose a socket of your own with path, or $CTXD_SOCKET",
      });
    }
    if (info.isDirectory() && (info.mode & 0o077) !== 0) {
      throw unavailable(`the directory of the socket, "${folder}", is open to others`, {
        hint: "close it with chmod 700, or choose another socket with path, or $CTXD_SOCKET",
      });
    }
  }
}
