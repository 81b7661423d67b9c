import assert from "node:assert/strict";
import { chmod, chown, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { connect, defaultPath } from "ctxd-client";
import { failure } from "./daemon.js";

const unix = { skip: process.platform === "win32" ? "pipes have no folder" : false };

// The environment is the test's own: node runs each file in a process.
function given(env: Record<string, string>): string {
  for (const name of ["CTXD_SOCKET", "XDG_RUNTIME_DIR", "TMPDIR"]) {
    delete process.env[name];
  }
  Object.assign(process.env, env);
  return defaultPath();
}

test("RPC-1: the socket is found as the daemon finds it", unix, () => {
  const uid = process.getuid?.();
  const all = { CTXD_SOCKET: "/s", XDG_RUNTIME_DIR: "/run/me", TMPDIR: "/t/" };
  assert.equal(given(all), "/s");
  assert.equal(given({ ...all, CTXD_SOCKET: "" }), "/run/me/ctxd/ctxd.sock");
  assert.equal(given({ ...all, CTXD_SOCKET: "", XDG_RUNTIME_DIR: "run" }), `/t/ctxd-${uid}/ctxd.sock`);
  assert.equal(given({}), `/tmp/ctxd-${uid}/ctxd.sock`);
});

test("RPC-1: a path that is too long is refused with the limit", async () => {
  const err = await failure(connect({ path: "/" + "é".repeat(60) }));
  assert.equal(err.kind, "unavailable");
  assert.match(err.message, /121 bytes, at most 103/);
  assert.equal(err.retryable, false);
});

test("RPC-3: a folder that others can enter is refused, also behind a link", unix, async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "ctxd-ts-"));
  t.after(() => rm(dir, { recursive: true }));
  await symlink(dir, join(dir, "link"));
  await chmod(dir, 0o750);
  for (const folder of [dir, join(dir, "link")]) {
    const err = await failure(connect({ path: join(folder, "s") }));
    assert.equal(err.message, `the directory of the socket, "${folder}", is open to others`);
    assert.match(err.hint ?? "", /^close it with chmod 700, or /);
  }
  await chmod(dir, 0o700);
  const path = join(dir, "s");
  assert.equal((await failure(connect({ path }))).message, `no daemon listens on the socket ${path}`);
});

test("RPC-3: a folder of somebody else is refused", unix, async (t) => {
  let dir = "/usr"; // root's, so not this user's
  let owner = 0;
  if (process.getuid?.() === 0) {
    dir = await mkdtemp(join(tmpdir(), "ctxd-ts-"));
    t.after(() => rm(dir, { recursive: true }));
    owner = 65534;
    await chown(dir, owner, owner);
  }
  const err = await failure(connect({ path: join(dir, "s") }));
  assert.equal(err.message, `the directory of the socket, "${dir}", belongs to user ${owner}, not to you`);
  assert.equal(err.retryable, false);
});

test("without a daemon the error says what to do", async () => {
  const path = process.platform === "win32" ? "\\\\.\\pipe\\none" : "/nonexistent/s";
  const err = await failure(connect({ path }));
  assert.equal(err.message, `no daemon listens on the socket ${path}`);
  assert.equal(err.kind, "unavailable");
  assert.equal(err.code, 1003);
  assert.equal(err.retryable, true);
  assert.equal(err.hint, "start one with: ctxd serve");
});
