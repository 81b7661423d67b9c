import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";

import { connect, CtxdError, ErrorCode, protocolVersion, VersionError, type Client, type NotesChangedEvent, type Progress } from "ctxd-client";
import { failure, home, program, rejection, start, type Daemon } from "./daemon.js";

let daemon: Daemon;
let ctxd: Client;

before(async () => {
  daemon = await start();
  ctxd = await daemon.connect({ version: "1.0.0" });
});
after(() => daemon.stop());

// inherit sets the environment of the commands that a test runs.
function inherit(t: TestContext, env: NodeJS.ProcessEnv): void {
  const own = { ...process.env };
  Object.assign(process.env, env);
  t.after(() => {
    for (const name of Object.keys(env)) {
      delete process.env[name];
    }
    Object.assign(process.env, own);
  });
}

test("handshake", async () => {
  const { serverInfo, capabilities } = ctxd.server;
  assert.equal(serverInfo.name, "ctxd");
  assert.equal(ctxd.server.protocolVersion, protocolVersion);
  assert.ok(capabilities.methods.includes("notes.get"));
  await ctxd.call("tags.list"); // it waits until the store is open, and admin.health does not
  assert.equal((await ctxd.call("admin.health")).status, "healthy");
});

test("notes are written, read, found and removed", async () => {
  const written = await ctxd.call("notes.put", {
    id: "kickoff", title: "Kickoff “Ωmega” 😀", body: "Goals: see [[Plan]].\n\n\t#planning 漢字", ifVersion: 0, return: "full",
  });
  assert.equal(written.version, 1);
  assert.deepEqual(written.tags, ["planning"]);
  const read = await ctxd.call("notes.get", { ref: "kickoff" });
  assert.equal(read.title, "Kickoff “Ωmega” 😀");
  assert.equal(read.body, written.body);
  assert.equal(read.links[0]?.target, "Plan");
  const { items } = await ctxd.call("notes.complete", { prefix: "kick" });
  assert.deepEqual(items[0]?.match, [[0, 4]]);
  const { hits } = await ctxd.call("notes.search", { query: "goals", mode: "lexical" });
  assert.equal(hits[0]?.id, "kickoff");
  assert.deepEqual(await ctxd.call("notes.delete", { id: "kickoff" }), { id: "kickoff", version: 2 });
});

test("REF-6, REF-7: a message refers to memories and to a part of a note, and the model gets them", async () => {
  await ctxd.call("notes.put", { id: "plan", title: "Plan", body: "# Goals\n\nA small house.\n\n# Lunch\n\nSoup." });
  const { memories } = await ctxd.call("memory.addMany", {
    memories: [
      { kind: "decision", statement: "The house has two floors." },
      { kind: "fact", statement: "The garden looks south." },
    ],
  });
  const [house, garden] = memories.map(({ memory }) => memory);
  assert.ok(house && garden);
  const text = `🙂 Does @${house.handle} suit #${garden.number} and [[Plan#Goals]]?`;

  const { cleanText, handles, notes, refs } = await ctxd.call("refs.parse", { text });
  assert.equal(cleanText, "🙂 Does suit and Plan#Goals?");
  assert.deepEqual(handles, [house.handle, `claim_${garden.number}`]);
  assert.deepEqual(notes, ["Plan"]);
  assert.deepEqual(refs.map(({ kind }) => kind), ["handle", "number", "note"]);
  assert.deepEqual(refs.map(({ start, end }) => text.slice(start, end)), refs.map(({ raw }) => raw)); // as JavaScript counts

  const { results } = await ctxd.call("refs.resolve", { refs: [...refs.map(({ raw }) => raw), "@nobody_of_that_name"] });
  assert.deepEqual(results?.map(({ type, via, sourceId }) => [type, via, sourceId]), [
    ["memory", "handle", house.id],
    ["memory", "number", garden.id],
    ["note", "name", "plan"],
    [undefined, undefined, undefined],
  ]);
  assert.equal(results?.[3]?.error?.code, ErrorCode.NotFound);

  const { system } = await ctxd.call("context.assemble", { text });
  assert.match(system, /A small house\./);
  assert.doesNotMatch(system, /Soup/);
  const referred = system.slice(system.indexOf("## What the user referred to")).trimEnd().split("\n");
  assert.deepEqual(referred, [
    "## What the user referred to",
    `- [REFERENCED @${house.handle}] [decision] The house has two floors. [id:${house.id}]`,
    `- [REFERENCED #${garden.number}] [fact] The garden looks south. [id:${garden.id}]`,
  ]);
});

test("RPC-7: a read sees the changes that were called before it", async () => {
  const put = ctxd.call("notes.put", { id: "order", title: "one" });
  const patch = ctxd.call("notes.patch", { id: "order", title: "two" });
  assert.equal((await ctxd.call("notes.get", { ref: "order" })).title, "two");
  assert.equal((await put).title, "one");
  assert.equal((await patch).version, 2);
});

test("errors say what was wrong and what to do", async () => {
  const missing = await failure(ctxd.call("notes.get", { ref: "nobody" }));
  assert.deepEqual([missing.code, missing.kind, missing.method], [ErrorCode.NotFound, "not_found", "notes.get"]);

  await ctxd.call("notes.putMany", { notes: [{ id: "t1", title: "Twin" }, { id: "t2", title: "Twin" }] });
  const ambiguous = await failure(ctxd.call("notes.get", { ref: "twin" }));
  assert.deepEqual([ambiguous.kind, ambiguous.reason], ["conflict", "ambiguous"]);
  assert.deepEqual(ambiguous.candidates?.map(({ id }) => id).sort(), ["t1", "t2"]);

  const wrong = await failure(ctxd.request("notes.get", { ref: 5 }));
  assert.deepEqual([wrong.kind, wrong.field], ["invalid_params", "ref"]);

  const query = await failure(ctxd.call("wql.query", { query: "SELECT p FROM Nothing WHERE" }));
  assert.equal(query.kind, "query");
  assert.equal(query.line, 1);
  assert.ok(query.hint);

  assert.equal((await failure(ctxd.request("no.such"))).kind, "method_not_found");
});

test("10 MB go both ways, whatever the characters", async () => {
  const body = "é 漢 😀 \"\\\u2028\n".repeat(180_000);
  const notes = ["x", "y", "z"].map((id) => ({ id: `large-${id}`, title: id, body }));
  assert.ok(Buffer.byteLength(JSON.stringify(notes)) > 10 << 20);
  const put = await ctxd.call("notes.putMany", { notes, return: "full" });
  assert.deepEqual(put.notes.map((note) => note.body === body), [true, true, true]);
  assert.equal((await ctxd.call("notes.get", { ref: "large-z" })).body, body);
});

test("a message over the limit is refused and the connection stays", async () => {
  const err = await failure(ctxd.call("notes.put", { id: "huge", title: "x", body: "x".repeat(17 << 20) }));
  assert.equal(err.kind, "limit");
  assert.equal((await ctxd.call("admin.health")).status, "healthy");
});

test("RPC-6: any number of calls may be made at once", async () => {
  const got = await Promise.all(Array.from({ length: 500 }, () => ctxd.call("notes.get", { ref: "t1" })));
  assert.equal(got.length, 500);
  assert.ok(got.every(({ id }) => id === "t1"));
});

test("an import reports how far it is, and stops when it is withdrawn", async () => {
  const vault = join(daemon.dir, "vault");
  await mkdir(vault);
  const files = Array.from({ length: 3000 }, (_, i) => `n${i}.md`);
  await Promise.all(files.map((name) => writeFile(join(vault, name), `# ${name}\n\n[[n1]] and [[n2]]\n`)));
  const control = new AbortController();
  const reason = new Error("the window was closed");
  const withdrawn = ctxd.call("vault.import", { path: vault, name: "v" }, {
    signal: control.signal,
    onProgress: () => control.abort(reason),
  });
  assert.equal(await rejection(withdrawn), reason);

  const seen: Progress[] = [];
  const result = await ctxd.call("vault.import", { path: vault, name: "v" }, { onProgress: (p) => seen.push(p) });
  assert.equal(result.notes, 3000);
  assert.equal(seen[0]?.kind, "begin");
  assert.equal(seen.at(-1)?.kind, "end");
  assert.ok(seen.some((p) => p.kind === "report" && p.total > 0), JSON.stringify(seen));
});

test("changes of others are told to subscribers", async () => {
  const other = await daemon.connect();
  const events: NotesChangedEvent[] = [];
  let told: (() => void) | undefined;
  const first = new Promise<void>((resolve) => (told = resolve));
  const stop = await ctxd.subscribe("notes.changed", (event) => {
    events.push(event);
    told?.();
  });
  await other.call("notes.put", { id: "told", title: "Told" });
  await first;
  assert.deepEqual(events[0]?.ids, ["told"]);
  assert.equal(events[0]?.kind, "put");
  assert.equal(events[0]?.seq, (await other.call("admin.health")).store.seq);
  await stop();
  assert.deepEqual(await ctxd.call("events.unsubscribe", { topics: ["health.changed"] }), { topics: [] });
  await other.close();
});

test("close drains: what was called is done", async () => {
  const one = await daemon.connect();
  const writes = Array.from({ length: 40 }, (_, i) => one.call("notes.put", { id: `drain${i}`, title: "x" }));
  await one.close();
  assert.deepEqual((await Promise.all(writes)).map(({ version }) => version), Array<number>(40).fill(1));
  assert.equal(await one.closed, undefined);
});

test("a connection made for another process ends with it", async () => {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  const one = await daemon.connect({ processId: child.pid });
  child.kill("SIGKILL");
  assert.equal((await one.closed)?.kind, "unavailable");
});

test("a daemon that is stopped ends its connections", async () => {
  const own = await start();
  const one = await own.connect();
  await one.call("admin.stop");
  assert.equal((await one.closed)?.retryable, true);
  assert.equal((await failure(connect({ path: own.path }))).hint, "start one with: ctxd serve");
  await own.stop();
});

test("ctxd stdio starts a daemon and is a connection to it", async (t) => {
  const at = await home();
  t.after(() => rm(at.dir, { recursive: true }));
  inherit(t, at.env);
  const one = await connect({ command: [program, "stdio", "--idle-exit", "1m"], name: "test" });
  assert.equal((await one.call("notes.put", { id: "a", title: "é 😀" })).version, 1);
  await one.close();
  assert.equal(await one.closed, undefined);

  const two = await connect({ path: at.path });
  assert.equal((await two.call("notes.get", { ref: "a" })).title, "é 😀");
  const stop = spawn(program, ["stop"], { stdio: "ignore" }); // waits until the daemon's files are at rest
  assert.deepEqual(await once(stop, "exit"), [0, null]);
  await two.closed;
});

test("calls over a command whose daemon dies may be made again, and the next command starts another daemon", async (t) => {
  const at = await home();
  t.after(() => rm(at.dir, { recursive: true }));
  inherit(t, at.env);
  const command = [program, "stdio", "--idle-exit", "1m"];
  const one = await connect({ command, name: "test" });
  const { pid } = await one.call("admin.health");
  const calls = Array.from({ length: 40 }, (_, i) => one.call("notes.put", { id: `n${i}`, title: `Note ${i}` }));
  const done = Promise.allSettled(calls);
  await calls[0];
  process.kill(pid, "SIGKILL");
  for (const [i, call] of (await done).entries()) {
    if (call.status === "rejected") {
      assert.ok(call.reason instanceof CtxdError && call.reason.retryable, `note ${i}: ${String(call.reason)}`);
    }
  }
  assert.equal((await one.closed)?.retryable, true);
  const two = await connect({ command, name: "test" });
  for (const [i, call] of (await done).entries()) {
    if (call.status === "fulfilled") {
      assert.equal((await two.call("notes.get", { ref: `n${i}` })).title, `Note ${i}`);
    }
  }
  await two.call("admin.stop");
  await two.closed;
});

test("a command replaces an older daemon where no other program uses it", async (t) => {
  const at = await home();
  t.after(() => rm(at.dir, { recursive: true }));
  inherit(t, at.env);
  const command = [program, "stdio", "--idle-exit", "1m"];
  const one = await connect({ command, name: "another app", processId: process.ppid });
  const { pid } = await one.call("admin.health");
  const wants = () => assert.rejects(connect({ command, name: "test", minVersion: "999.0" }), VersionError);
  await wants();
  assert.equal((await one.call("admin.health")).pid, pid, "another program uses it");
  await one.close();
  await wants(); // the new one is as old
  const two = await connect({ command, name: "test" });
  assert.notEqual((await two.call("admin.health")).pid, pid);
  await two.call("admin.stop");
  await two.closed;
});

test("a command that fails says why", async () => {
  const none = await failure(connect({ command: [join(daemon.dir, "no-such-program")] }));
  assert.match(none.message, /can't be run/);
  assert.ok(none.hint);
});

test("ctxd stdio fails with its message and its hint, with and without --json", async (t) => {
  const at = await home();
  t.after(() => rm(at.dir, { recursive: true }));
  inherit(t, at.env);
  for (const more of [[], ["--json"], ["--color", "always"]]) {
    const away = await failure(connect({ command: [program, "stdio", "--no-start", ...more] }));
    assert.equal(away.kind, "unavailable");
    assert.equal(away.message, `no daemon listens on the socket ${at.path}`);
    assert.match(away.hint ?? "", /^ctxd serve/);
    const wrong = await failure(connect({ command: [program, "no-such-command", ...more] }));
    assert.match(wrong.message, /^(?!Error|\{).*no-such-command.*$/); // one line
    assert.match(wrong.hint ?? "", /^ctxd .*--help$/);
  }
});

test("any other command is quoted", async () => {
  const long = "x".repeat(5000);
  const cases: [said: string, message: string, hint?: string][] = [
    ["ssh: no route to host\n", "ssh: no route to host"],
    ["Error: one\n  | two\nTry: three\n", "one\n  | two", "three"],
    ["Error: nothing to try\n", "nothing to try"],
    ["warning\nError: late\nTry: on\n", "warning\nError: late\nTry: on"],
    ['{"error":{"message":"one","log":["two"]}}\n', "one\ntwo"],
    ['{"error":"of another kind"}', '{"error":"of another kind"}'],
    ["null", "null"],
    [long, long.slice(-2048)],
    ["", `${process.execPath} ended with status 3`],
  ];
  for (const [said, message, hint] of cases) {
    const code = `process.stderr.write(${JSON.stringify(said)}, () => process.exit(3))`;
    const err = await failure(connect({ command: [process.execPath, "-e", code] }));
    assert.deepEqual([err.message, err.hint, err.kind], [message, hint, "unavailable"]);
  }
});
