import assert from "node:assert/strict";
import { on, once } from "node:events";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { MessageChannel, Worker } from "node:worker_threads";

import { connect as dial, ErrorCode, VersionError, type Progress } from "ctxd-client";
import { serve, supervise, type Daemon, type DaemonState, type SuperviseOptions } from "ctxd-client/bridge";
import { connect, overPort, type Page } from "ctxd-client/bridge/renderer";
import { backoff } from "../dist/bridge/supervise.js";
import { isOlder } from "../dist/version.js";
import { api } from "./api.js";
import { failure, home, program, rejection, start } from "./daemon.js";
import { startModel } from "./model.js";

interface App {
  daemon: Daemon;
  /** Of other apps, which are stopped before it. */
  others: Daemon[];
  /** The folder of the app, the path of the socket and the environment of the daemon. */
  at: Awaited<ReturnType<typeof home>>;
  page(): Page<typeof api> & { port: MessageChannel["port1"] };
}

// open is an app whose daemon does not run yet.
async function open(t: TestContext, options: Partial<SuperviseOptions> = {}, settings: NodeJS.ProcessEnv = {}): Promise<App> {
  const at = await home();
  const env = { ...at.env, ...settings };
  const daemon = supervise({ name: "app", program, path: at.path, env, args: ["--log-file", "none"], backoffMs: 10, ...options });
  const others: Daemon[] = [];
  t.after(async () => {
    // The last one ends the daemon, which writes until then.
    for (const d of [...others, daemon]) await d.stop();
    await rm(at.dir, { recursive: true });
  });
  return { daemon, others, at, page: () => pageOf(daemon) };
}

// pageOf is a page of an app, with its own end of the channel.
function pageOf(daemon: Daemon): Page<typeof api> & { port: MessageChannel["port1"] } {
  const { port1, port2 } = new MessageChannel();
  serve(port1, daemon, api);
  return Object.assign(connect<typeof api>(overPort(port2 as never)), { port: port2 });
}

// until resolves with the next state of a kind, from now on.
function until<S extends DaemonState["state"]>(
  of: { state: DaemonState; onState(listener: (state: DaemonState) => void): () => void }, kind: S,
): Promise<DaemonState & { state: S }> {
  return new Promise((resolve) => {
    const off = of.onState((state) => {
      if (state.state === kind) {
        off();
        resolve(state as DaemonState & { state: S });
      }
    });
  });
}

test("CLI-5: a daemon is started for the app, serves its pages, and quits with it", async (t) => {
  const { daemon, page, at } = await open(t);
  const running = until(daemon, "running");
  const own = page();
  assert.equal(own.state.state, "starting");
  const early = new AbortController();
  const withdrawn = own.call("notes.get", { ref: "kickoff" }, { signal: early.signal });
  early.abort(new Error("not any more"));
  assert.equal(((await rejection(withdrawn)) as Error).message, "not any more");
  const note = await own.call("notes.put", { id: "kickoff", title: "Kickoff 😀", body: "Goals" }); // waits
  assert.equal(note.title, "Kickoff 😀");
  assert.equal((await running).started, true);
  const { hits } = await page().call("notes.search", { query: "goals", mode: "lexical" });
  assert.equal(hits[0]?.id, "kickoff");
  assert.equal(own.state.state, "running");

  await daemon.stop();
  assert.equal(daemon.state.state, "stopped");
  assert.equal((await own.closed)?.message, "the app has stopped the daemon");
  assert.equal(own.open, false);
  assert.equal((await failure(own.call("notes.get", { ref: "kickoff" }))).kind, "unavailable");
  assert.equal((await failure(daemon.connect())).kind, "cancelled");
  assert.equal((await failure(dial({ path: at.path }))).retryable, true); // nobody listens
});

test("CLI-5: errors keep what the daemon said of them", async (t) => {
  const { daemon, page } = await open(t);
  const own = page();
  const client = await daemon.connect();
  await client.call("notes.putMany", { notes: [{ id: "t1", title: "Twin" }, { id: "t2", title: "Twin" }] });
  for (const [method, params] of [
    ["notes.get", { ref: "nobody" }],
    ["notes.get", { ref: "twin" }],
    ["notes.search", { query: "x", limit: 1000 }],
    ["wql.query", { query: "SELECT p FROM Nothing WHERE" }],
  ] as const) {
    const here = await failure(client.request(method, params));
    const there = await failure(own.call(method, params as never));
    assert.equal(there.message, here.message);
    assert.deepEqual({ ...there }, { ...here });
    assert.ok(there.kind && there.code && there.method === method);
  }
});

test("CLI-5: a page does what the api allows, and nothing else", async (t) => {
  const { page } = await open(t);
  const own = page();
  for (const method of ["notes.delete", "admin.stop", "initialize", "shutdown", "no.such", "toString"]) {
    const err = await failure(own.call(method as never, {} as never));
    assert.deepEqual([err.code, err.kind, err.hint], [
      ErrorCode.MethodNotFound, "method_not_found", "allow it in the api that the main process serves",
    ]);
  }
  assert.equal((await failure(own.subscribe("memory.changed" as never, () => {}))).field, "topics");
  assert.equal((await failure(own.call("notes.get", [] as never))).kind, "invalid_params");
});

test("CLI-5: whatever a page sends, the main process stays and answers", async (t) => {
  const { page } = await open(t);
  const own = page();
  for (const message of ["", "null", "7", "[]", "{", "\0", '{"id":{},"method":"notes.get"}', '{"id":9000}', '{"method":"exit"}',
    '{"method":"$/cancelRequest"}', '{"method":"$/cancelRequest","params":7}', '{"id":9001,"method":"notes.get","params":7}']) {
    own.port.postMessage(message);
  }
  own.port.postMessage({ id: 9003, method: "notes.put" });
  own.port.postMessage(null);
  own.port.postMessage({ data: '{"id":9002,"method":"admin.stop"}' });
  const calls = Array.from({ length: 1500 }, () => own.call("notes.search", { query: "" }));
  await Promise.all(calls); // 64 at a time
  const answers: { id: number; error?: { data: { kind: string } } }[] = [];
  const all = new Promise<void>((resolve) => {
    own.port.on("message", (text: string) => {
      if (answers.push(JSON.parse(text) as never) === 1002) {
        resolve();
      }
    });
  });
  for (let id = 10_000; id <= 11_001; id++) {
    own.port.postMessage(JSON.stringify({ id, method: "notes.search", params: { query: "" } }));
  }
  await all;
  assert.ok(answers.some(({ error }) => error?.data.kind === "limit"));
  await own.call("notes.search", { query: "" });
});

test("CLI-5: a daemon that dies is started again; calls wait, subscriptions go on", async (t) => {
  const { daemon, page } = await open(t);
  const own = page();
  await until(own, "running");
  const changes: string[][] = [];
  await own.subscribe("notes.changed", ({ ids }) => changes.push(ids));
  const first = await daemon.connect();
  const { pid } = await first.call("admin.health");
  const seen: string[] = [];
  own.onState(({ state }) => seen.push(state));
  const back = until(own, "running");

  process.kill(pid, "SIGKILL");
  assert.equal((await first.closed)?.retryable, true);
  const waits = own.call("notes.put", { id: "after", title: "After" }).catch((err: { retryable?: boolean }) => {
    assert.equal(err.retryable, true); // it was on its way when the daemon died
    return own.call("notes.put", { id: "after", title: "After" });
  });
  assert.equal((await waits).title, "After");
  await back;
  assert.deepEqual(seen, ["waiting", "starting", "running"]);
  const second = await daemon.connect();
  assert.notEqual((await second.call("admin.health")).pid, pid);
  while (!changes.flat().includes("again")) {
    await own.call("notes.put", { id: "again", title: "Again" });
    await new Promise((resolve) => setImmediate(resolve));
  }
});

test("CLI-5: a daemon that runs already is found, and stays when the app quits", async (t) => {
  const found = await start();
  t.after(() => found.stop());
  const daemon = supervise({ name: "app", version: "1.2.3", program: "/no/such/ctxd", path: found.path });
  const running = until(daemon, "running");
  const page = pageOf(daemon);
  await page.call("notes.put", { id: "a", title: "A" });
  assert.equal((await running).started, false);
  await daemon.stop();
  const other = await found.connect();
  assert.equal((await other.call("notes.get", { ref: "a" })).title, "A");
});

test("CLI-9: a daemon that another program uses stays when the app that started it quits", async (t) => {
  const { daemon, at } = await open(t, { args: ["--log-file", "none", "--idle-exit", "2s"] });
  (await daemon.connect()).destroy();
  const other = await dial({ path: at.path, name: "other", processId: process.ppid });
  await daemon.stop();
  assert.equal(daemon.state.state, "stopped");
  assert.equal((await other.call("notes.put", { id: "a", title: "A" })).title, "A");
  other.destroy();
  for (;;) { // it ends by itself when nobody is left
    try {
      (await dial({ path: at.path })).destroy();
    } catch {
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 3000));
  }
});

test("CLI-9: a daemon that is too old is replaced where no other program uses it, and else told", async (t) => {
  const found = await start();
  t.after(() => found.stop());
  const { pid } = await (await found.connect()).call("admin.health");
  await assert.rejects(dial({ path: found.path, minVersion: "999.0" }), (err) => err instanceof VersionError && err.older === "daemon" && /999\.0/.test(err.message));
  (await dial({ path: found.path, minVersion: "0.0.1" })).destroy();

  const other = await dial({ path: found.path, name: "other", processId: process.ppid });
  const wants = { name: "app", program, path: found.path, env: found.env, args: ["--log-file", "none"], minVersion: "999.0" };
  const told = supervise(wants);
  assert.ok((await until(told, "failed")).error instanceof VersionError);
  assert.equal((await other.call("admin.health")).pid, pid);
  await told.stop();
  other.destroy();

  for (let gone = false; !gone;) { // the daemon may see a little later that the other one has gone
    const replaces = supervise(wants); // by a program that is no newer
    assert.ok((await until(replaces, "failed")).error instanceof VersionError);
    await replaces.stop();
    await found.connect().then((c) => c.close(), () => gone = true);
  }
});

test("CLI-9: a client that reads for a model elsewhere says so", async (t) => {
  const { daemon } = await open(t, { audience: "remote" });
  const remote = await daemon.connect();
  await assert.rejects(remote.call("notes.search", { query: "x", audience: "local" }));
});

test("CLI-9: versions are compared by their numbers", () => {
  for (const [a, b, older] of [
    ["0.9.0", "0.10.0", true], ["0.10.0", "0.9", false], ["1.0.0-rc1", "1.0.0", true], ["1", "1.0.0", false], ["v1.2.3", "1.2.4", true],
    ["devel", "1.0.0", false], ["1.0.0", "1.0.0", false],
  ] as const) {
    assert.equal(isOlder(a, b), older, `${a} and ${b}`);
  }
});

test("CLI-5: two apps that start at once share one daemon", async (t) => {
  const { daemon: one, others, at } = await open(t);
  const two = supervise({ name: "other", program, path: at.path, env: at.env, args: ["--log-file", "none"], backoffMs: 10 });
  others.push(two);
  const pids = await Promise.all([one, two].map(async (d) => (await (await d.connect()).call("admin.health")).pid));
  assert.equal(pids[0], pids[1]);
  const started = [one, two].filter(({ state }) => state.state === "running" && state.started);
  assert.equal(started.length, 1);
});

test("CLI-5: a program that can't be run, or ends at once, is told with what helps", async (t) => {
  const { daemon, page } = await open(t, { program: "/no/such/ctxd" });
  const own = page();
  const err = await failure(own.call("notes.get", { ref: "a" }));
  assert.deepEqual([err.message, err.hint], ["/no/such/ctxd can't be run", "install ctxd, or give the path of the program"]);
  assert.equal(own.state.state, "failed");
  const again = until(daemon, "failed");
  daemon.retry();
  assert.equal((await again).error.message, err.message);

  const { page: other } = await open(t, { args: ["--no-such-flag"] });
  const said = await failure(other().call("notes.get", { ref: "a" }));
  assert.match(said.message, /no-such-flag/);
});

test("CLI-5: a page that listened before there was a ctxd is told of changes when there is one", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "ctxd-program-"));
  t.after(() => rm(dir, { recursive: true }));
  const later = join(dir, process.platform === "win32" ? "ctxd.exe" : "ctxd");
  const { page } = await open(t, { program: later });
  const own = page();
  await until(own, "failed");
  const changed = new Promise<string[]>((resolve) => void own.subscribe("notes.changed", ({ ids }) => resolve(ids)));
  assert.match((await failure(own.call("notes.get", { ref: "a" }))).message, /can't be run$/);
  await copyFile(program, later); // somebody installs it
  const running = until(own, "running");
  own.retry();
  await running;
  await own.call("notes.put", { id: "a", title: "A" });
  assert.deepEqual(await changed, ["a"]);
});

test("CLI-5: a daemon of another protocol is refused, and which is older is told", async (t) => {
  const at = await home();
  let theirs = "0.9";
  const server = createServer((socket) => {
    const lines = createInterface(socket);
    lines.on("error", () => {}); // the client may go at any moment
    lines.on("line", (line) => {
      const { id } = JSON.parse(line) as { id?: number };
      socket.write(JSON.stringify({ jsonrpc: "2.0", id, result: { protocolVersion: theirs } }) + "\n");
    });
  });
  await once(server.listen(at.path), "listening");
  const daemon = supervise({ name: "app", program: "/no/such/ctxd", path: at.path });
  t.after(async () => {
    await daemon.stop();
    server.close();
    await rm(at.dir, { recursive: true });
  });
  const old = await failure(daemon.connect());
  assert.ok(old instanceof VersionError);
  assert.equal(old.older, "daemon");
  const page = pageOf(daemon);
  const there = await failure(page.call("notes.get", { ref: "a" }));
  assert.deepEqual([there.message, there.hint], [old.message, old.hint]);
  theirs = "3.0";
  const failed = until(daemon, "failed");
  daemon.retry();
  assert.equal(((await failed).error as VersionError).older, "client");
  theirs = "2.7";
  const running = until(daemon, "running");
  daemon.retry();
  assert.equal((await running).server.protocolVersion, "2.7");
});

test("CLI-5: the wait before a restart doubles up to a bound", () => {
  assert.deepEqual([1, 2, 3, 7, 8, 100, Infinity].map((n) => backoff(n)), [250, 500, 1000, 16_000, 30_000, 30_000, 30_000]);
});

test("CLI-5: progress and cancelling go through the bridge", async (t) => {
  const { page, at } = await open(t);
  const own = page();
  const vault = join(at.dir, "vault");
  await mkdir(vault);
  await Promise.all(Array.from({ length: 2000 }, (_, i) => writeFile(join(vault, `n${i}.md`), `# N${i}\n\n[[n1]]\n`)));
  const control = new AbortController();
  const reason = new Error("the view was closed");
  const withdrawn = own.call("vault.import", { path: vault, name: "v" }, { signal: control.signal, onProgress: () => control.abort(reason) });
  assert.equal(await rejection(withdrawn), reason);
  const seen: Progress[] = [];
  assert.equal((await own.call("vault.import", { path: vault, name: "v" }, { onProgress: (p) => seen.push(p) })).notes, 2000);
  assert.deepEqual([seen[0]?.kind, seen.at(-1)?.kind], ["begin", "end"]);
});

test("CLI-5: a page that ends takes its connection, subscriptions and answers along", async (t) => {
  const model = await startModel();
  t.after(() => model.stop());
  const { daemon, page } = await open(t, {}, model.settings);
  const watch = await daemon.connect({ name: "watch" });
  const connections = async () => (await watch.call("admin.connections")).connections.length;
  const before = await connections();
  const own = page();
  await own.subscribe("notes.changed", () => assert.fail("a page that is gone was told"));
  assert.equal(await connections(), before + 1);
  const left = model.hungUp("wait here");
  const answer = own.chat.send({ text: "wait here" });
  await answer[Symbol.asyncIterator]().next();
  own.close();
  await left;
  assert.equal((await failure(answer.result)).kind, "cancelled");
  assert.equal(await own.closed, undefined);
  while ((await connections()) > before);
  await watch.call("notes.put", { id: "x", title: "X" });
});

test("CLI-5: a page in a worker thread streams answers, stops one, and ends with its thread", async (t) => {
  const model = await startModel();
  t.after(() => model.stop());
  const { daemon } = await open(t, {}, model.settings);
  const { port1, port2 } = new MessageChannel();
  serve(port1, daemon, api);
  const worker = new Worker(new URL("./page.worker.js", import.meta.url), { workerData: { port: port2 }, transferList: [port2] });
  t.after(() => worker.terminate());
  const told = on(worker, "message");
  const next = async () => ((await told.next()).value as [Record<string, unknown>])[0];

  worker.postMessage({ listen: true });
  assert.deepEqual(await next(), { listening: true });
  const client = await daemon.connect();
  await client.call("notes.put", { id: "x", title: "X" });
  assert.deepEqual(await next(), { changed: ["x"] });

  worker.postMessage({ ask: "one two 😀" });
  const pieces: unknown[] = [];
  let last = await next();
  for (; "piece" in last; last = await next()) {
    pieces.push(last["piece"]);
  }
  assert.deepEqual(last, { text: "one two 😀", content: "one two 😀" });
  assert.equal(pieces.filter(Boolean).join(""), "one two 😀");

  const left = model.hungUp("wait here");
  worker.postMessage({ ask: "wait here" });
  assert.ok("piece" in await next());
  worker.postMessage({ abort: true });
  await left;
  for (last = await next(); "piece" in last; last = await next());
  assert.deepEqual(last, { failed: "enough", ours: false });

  worker.postMessage({ ask: "refuse" });
  for (last = await next(); "piece" in last; last = await next());
  assert.equal(last["ours"], true);

  const gone = model.hungUp("wait there");
  worker.postMessage({ ask: "wait there" });
  assert.ok("piece" in await next());
  await worker.terminate();
  await gone;
});
