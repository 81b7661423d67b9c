import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough, Writable } from "node:stream";
import { test, type TestContext } from "node:test";

import { connect, CtxdError, VersionError, type Client, type ConnectOptions, type Progress } from "ctxd-client";
import { Connection } from "../dist/connection.js";
import { overStreams } from "../dist/transport.js";
import { failure, rejection } from "./daemon.js";
import { Peer } from "./peer.js";

async function open(t: TestContext, options?: ConnectOptions): Promise<{ peer: Peer; client: Client }> {
  const both = await Peer.open(options);
  t.after(async () => {
    both.client.destroy();
    await both.peer.close();
  });
  return both;
}

test("the client introduces itself", async (t) => {
  const { peer, connecting } = await Peer.meet({ name: "app", version: "2.1.0", processId: 7 });
  t.after(() => peer.close());
  const { id, method, params } = await peer.next();
  assert.equal(method, "initialize");
  assert.deepEqual(params, {
    clientInfo: { name: "app", version: "2.1.0" }, processId: 7, protocolVersion: "2.0",
  });
  peer.send({ id, result: { serverInfo: { name: "peer" } } });
  assert.equal((await connecting).server.serverInfo.name, "peer");
  assert.equal((await peer.next()).method, "initialized");
});

test("a refused handshake is an error of connect", async (t) => {
  const { peer, connecting } = await Peer.meet();
  t.after(() => peer.close());
  const { id } = await peer.next();
  peer.send({ id, error: { code: 1003, message: "too new", data: { kind: "unavailable", retryable: false } } });
  for (let asked = 0; asked < 2; asked++) { // about the daemon, which says nothing of use
    peer.send({ id: (await peer.next()).id, result: {} });
  }
  assert.equal((await failure(connecting)).message, "too new");
  assert.equal(await peer.ended(), true);
});

for (const { daemon, older, message, hint } of [
  { daemon: "3.0", older: "client", message: "this client is older than the daemon (version 0.0.7): it speaks protocol 2.0, the daemon 3.0", hint: "update the program that connects" },
  { daemon: "0.9", older: "daemon", message: "the daemon (version 0.0.7) is older than this client: it speaks protocol 0.9, this client 2.0", hint: "restart the daemon with a newer ctxd: ctxd stop, then ctxd serve" },
]) {
  for (const refuses of [false, true]) {
    test(`a daemon of protocol ${daemon} that ${refuses ? "refuses" : "takes"} the client is told from the ${older}`, async (t) => {
      const { peer, connecting } = await Peer.meet();
      t.after(() => peer.close());
      const { id } = await peer.next();
      if (refuses) {
        peer.send({ id, error: { code: 1003, message: "no", data: { kind: "unavailable", retryable: false } } });
        for (const answer of [{ info: { version: daemon } }, { version: "0.0.7" }]) {
          peer.send({ id: (await peer.next()).id, result: answer });
        }
      } else {
        peer.send({ id, result: { serverInfo: { name: "ctxd", version: "0.0.7" }, protocolVersion: daemon } });
      }
      const err = await failure(connecting);
      assert.ok(err instanceof VersionError);
      assert.equal(err.message, message);
      assert.deepEqual({ ...err }, { code: 1003, kind: "unavailable", retryable: false, hint, client: "2.0", daemon, older });
      assert.equal(await peer.ended(), true);
    });
  }
}

test("a daemon of the same major version is used, and what it does not know is explained", async (t) => {
  const { peer, connecting } = await Peer.meet();
  t.after(() => peer.close());
  peer.send({ id: (await peer.next()).id, result: { serverInfo: { name: "ctxd" }, protocolVersion: "2.99" } });
  const client = await connecting;
  await peer.next(); // initialized
  const refusal = { code: -32601, message: "there is no method", data: { kind: "method_not_found", retryable: false } };
  const call = failure(client.call("tags.list"));
  peer.send({ id: (await peer.next()).id, error: refusal });
  assert.match((await call).message, /; the daemon is older than this client$/);
  assert.match((await call).hint ?? "", /ctxd stop/);
  const request = failure(client.request("no.such"));
  peer.send({ id: (await peer.next()).id, error: refusal });
  assert.equal((await request).message, "there is no method");
});

test("connecting can be given up", async (t) => {
  const control = new AbortController();
  const { peer, connecting } = await Peer.meet({ signal: control.signal });
  t.after(() => peer.close());
  await peer.next();
  control.abort(new Error("enough"));
  assert.equal((await rejection(connecting) as Error).message, "enough");
  assert.equal(await peer.ended(), true);
  assert.equal((await rejection(connect({ signal: AbortSignal.abort() })) as Error).name, "AbortError");
});

test("an error has all that the daemon said", async (t) => {
  const { peer, client } = await open(t);
  const data = {
    kind: "conflict", ref: "r", field: "f", hint: "h", retryable: true, line: 1, column: 2,
    candidates: [{ id: "a", title: "A" }],
  };
  const call = failure(client.call("notes.get", { ref: "x" }));
  peer.send({ id: (await peer.next()).id, error: { code: 1002, message: "two", data } });
  const err = await call;
  assert.equal(err.message, "two");
  assert.equal(String(err), "CtxdError: two");
  assert.deepEqual({ ...err }, { ...data, code: 1002, method: "notes.get" });
  const bare = failure(client.call("tags.list"));
  peer.send({ id: (await peer.next()).id, error: { code: -32603, message: "x" } });
  assert.deepEqual({ ...(await bare) }, { code: -32603, kind: "internal", retryable: false, method: "tags.list" });
});

test("replies find their calls in any order", async (t) => {
  const { peer, client } = await open(t);
  const calls = [client.call("notes.get", { ref: "a" }), client.call("notes.get", { ref: "b" })];
  const asked = [await peer.next(), await peer.next()];
  for (const { id, params } of asked.reverse()) {
    peer.send({ id, result: params });
  }
  assert.deepEqual(await Promise.all(calls), [{ ref: "a" }, { ref: "b" }]);
});

test("RPC-6: calls over the limit wait in the client", async (t) => {
  const { peer, client } = await open(t, { maxInFlight: 2 });
  const control = new AbortController();
  const calls = ["a", "b"].map((id) => client.call("notes.get", { ref: id }));
  const dropped = client.call("notes.get", { ref: "dropped" }, { signal: control.signal });
  calls.push(client.call("notes.get", { ref: "c" }));
  const [first, second] = [await peer.next(), await peer.next()];
  control.abort();
  assert.equal((await rejection(dropped) as Error).name, "AbortError");
  peer.send({ id: first.id, result: {} });
  await calls[0];
  // Neither the dropped call nor a word of it has been sent.
  const third = await peer.next();
  assert.deepEqual([third.method, third.params], ["notes.get", { ref: "c" }]);
  [second, third].forEach(({ id }) => peer.send({ id, result: {} }));
  await Promise.all(calls);
});

test("RPC-7: a withdrawn call is rejected with the signal's reason", async (t) => {
  const { peer, client } = await open(t);
  const control = new AbortController();
  const call = client.call("notes.search", { query: "x" }, { signal: control.signal });
  const { id } = await peer.next();
  const reason = new Error("typed on");
  control.abort(reason);
  const cancel = await peer.next();
  assert.deepEqual([cancel.method, cancel.params, cancel.id], ["$/cancelRequest", { id }, undefined]);
  peer.send({ id, error: { code: -32800, message: "withdrawn", data: { kind: "cancelled", retryable: false } } });
  assert.equal(await rejection(call), reason);
  assert.equal(await rejection(client.call("tags.list", {}, { signal: control.signal })), reason);
});

test("RPC-7: a change that completes all the same gives its result", async (t) => {
  const { peer, client } = await open(t);
  const control = new AbortController();
  const call = client.call("notes.delete", { id: "x" }, { signal: control.signal });
  const { id } = await peer.next();
  control.abort();
  await peer.next();
  peer.send({ id, result: { id: "x", version: 2 } });
  assert.deepEqual(await call, { id: "x", version: 2 });
});

test("a daemon that does not answer a cancel is not waited for", async (t) => {
  const { peer, client } = await open(t);
  const control = new AbortController();
  const call = client.call("tags.list", {}, { signal: control.signal });
  await peer.next();
  t.mock.timers.enable({ apis: ["setTimeout"] });
  control.abort();
  t.mock.timers.tick(2000);
  assert.equal((await rejection(call) as Error).name, "AbortError");
});

test("one signal may stand for many calls", async (t) => {
  const warnings: Error[] = [];
  const warned = (warning: Error) => warnings.push(warning);
  process.on("warning", warned);
  t.after(() => process.off("warning", warned));
  const { peer, client } = await open(t);
  const control = new AbortController();
  const calls = Array.from({ length: 50 }, () => rejection(client.call("tags.list", {}, { signal: control.signal })));
  await peer.next();
  control.abort();
  peer.socket.destroy();
  await Promise.all(calls);
  assert.deepEqual(warnings, []);
});

test("progress goes to the call that asked for it", async (t) => {
  const others: unknown[] = [];
  const { peer, client } = await open(t, { onNotification: (...args) => others.push(args) });
  const seen: Progress[] = [];
  const call = client.call("vault.import", { path: "/v" }, { onProgress: (p) => seen.push(p) });
  const { id, params } = await peer.next();
  assert.deepEqual(params, { path: "/v", progressToken: id });
  const report = { kind: "report", done: 1, total: 2 };
  peer.send({ method: "$/progress", params: { token: id, value: report } });
  peer.send({ method: "$/progress", params: { token: "another", value: report } });
  peer.send({ id, result: {} });
  await call;
  assert.deepEqual(seen, [report]);
  assert.deepEqual(others, [["$/progress", { token: "another", value: report }]]);
});

test("the last listener of a topic ends the subscription", async (t) => {
  const { peer, client } = await open(t);
  const seen: string[] = [];
  const subscribe = async (name: string) => {
    const done = client.subscribe("notes.changed", (event) => seen.push(name + event.ids.join()));
    const { id, method, params } = await peer.next();
    assert.deepEqual([method, params], ["events.subscribe", { topics: ["notes.changed"] }]);
    peer.send({ id, result: params });
    return done;
  };
  const change = async (id: string) => {
    peer.send({ method: "notes.changed", params: { ids: [id], kind: "put", seq: 1 } });
    const call = client.call("tags.list"); // its answer shows that the event was read
    peer.send({ id: (await peer.next()).id, result: {} });
    await call;
  };
  const stops = [await subscribe("1:"), await subscribe("2:")];
  await change("a");
  await stops[0]?.();
  await stops[0]?.(); // once more does nothing
  await change("b");
  const last = stops[1]?.();
  const { id, method } = await peer.next();
  assert.equal(method, "events.unsubscribe");
  peer.send({ id, result: { topics: [] } });
  await last;
  await change("c");
  assert.deepEqual(seen, ["1:a", "2:a", "2:b"]);
});

test("a subscription that is refused listens to nothing", async (t) => {
  const others: string[] = [];
  const { peer, client } = await open(t, { onNotification: (method) => others.push(method) });
  const subscribing = failure(client.subscribe("notes.changed", () => assert.fail("it was called")));
  peer.send({ id: (await peer.next()).id, error: { code: -32601, message: "no such method" } });
  await subscribing;
  peer.send({ method: "notes.changed", params: { ids: [], kind: "many", seq: 1 } });
  const call = client.call("tags.list");
  peer.send({ id: (await peer.next()).id, result: {} });
  await call;
  assert.deepEqual(others, ["notes.changed"]);
});

test("a lost connection fails its calls and those after it", async (t) => {
  const { peer, client } = await open(t);
  const call = failure(client.call("tags.list"));
  await peer.next();
  peer.socket.destroy();
  const err = await call;
  assert.deepEqual([err.kind, err.retryable, err.message], ["unavailable", true, "the connection to the daemon is lost"]);
  assert.equal(await client.closed, err);
  assert.equal(client.open, false);
  assert.equal(await rejection(client.call("tags.list")), err);
  await client.close();
});

test("an error without an id ends the connection and says why", async (t) => {
  const { peer, client } = await open(t);
  const call = failure(client.call("tags.list"));
  await peer.next();
  peer.send({ id: null, error: { code: 1004, message: "too many connections", data: { kind: "limit", retryable: true } } });
  assert.equal((await call).message, "too many connections");
  assert.equal((await client.closed)?.kind, "limit");
});

test("what is no message ends the connection", async (t) => {
  for (const line of ["HTTP/1.1 400 Bad Request", "null", "7"]) {
    const { peer, client } = await open(t, { onNotification: () => assert.fail("it reads on") });
    const call = failure(client.call("tags.list"));
    await peer.next();
    peer.socket.write(`${line}\n{"method":"late"}\n`);
    assert.equal((await call).kind, "unavailable");
    assert.ok((await client.closed)?.cause instanceof SyntaxError);
  }
});

test("progress without a token is somebody else's", async (t) => {
  const others: string[] = [];
  const { peer, client } = await open(t, { onNotification: (method) => others.push(method) });
  peer.send({ method: "$/progress" });
  const call = client.call("tags.list");
  peer.send({ id: (await peer.next()).id, result: {} });
  await call;
  assert.deepEqual(others, ["$/progress"]);
});

test("close waits for the answers and takes no new calls", async (t) => {
  const { peer, client } = await open(t, { maxInFlight: 1 });
  const calls = [client.call("tags.list"), client.call("types.list")];
  const closing = client.close();
  assert.deepEqual([(await failure(client.call("tags.list"))).kind, client.open], ["cancelled", false]);
  for (const name of ["tags.list", "types.list"]) {
    const { id, method } = await peer.next();
    assert.equal(method, name);
    peer.send({ id, result: {} });
  }
  await Promise.all(calls);
  assert.equal(await peer.ended(), true); // the peer's socket ends with it
  await closing;
  assert.equal(await client.closed, undefined);
});

test("a connection that breaks while it is being closed is no silent end", async (t) => {
  const { peer, client } = await open(t);
  const call = failure(client.call("tags.list"));
  await peer.next();
  const closing = client.close();
  peer.socket.destroy();
  assert.equal((await call).kind, "unavailable");
  assert.equal((await client.closed)?.kind, "unavailable");
  await closing;
});

test("close does not wait for another end that stays", async (t) => {
  let destroyed: ((reason: undefined) => void) | undefined;
  const over = new Promise<undefined>((resolve) => (destroyed = resolve));
  const connection = new Connection(
    overStreams({ input: new PassThrough(), output: new PassThrough(), over, destroy: () => destroyed?.(undefined) }), 32, () => {});
  t.mock.timers.enable({ apis: ["setTimeout"] });
  connection.end();
  t.mock.timers.tick(2000);
  assert.equal(await connection.closed, undefined);
});

test("destroy ends at once", async (t) => {
  const { peer, client } = await open(t);
  const call = failure(client.call("tags.list"));
  await peer.next();
  client.destroy();
  assert.equal((await call).kind, "cancelled");
  assert.equal(await client.closed, undefined);
  assert.equal(await peer.ended(), true);
});

test("params that are no JSON are an error of the call alone", async (t) => {
  const { peer, client } = await open(t);
  const loop: Record<string, unknown> = {};
  loop["self"] = loop;
  const err = await failure(client.request("tags.list", loop));
  assert.equal(err.kind, "invalid_params");
  assert.ok(err.cause instanceof TypeError);
  const call = client.call("tags.list", {});
  peer.send({ id: (await peer.next()).id, result: { tags: [] } });
  assert.deepEqual(await call, { tags: [] });
});

// A transport that takes a message only when the test says so.
test("nothing is written faster than it is read", async () => {
  const taken: string[] = [];
  const takers: (() => void)[] = [];
  const output = new Writable({
    highWaterMark: 1,
    decodeStrings: false,
    write(text: string, _, done) {
      taken.push((JSON.parse(text) as { method: string }).method);
      takers.push(done);
    },
  });
  const connection = new Connection(
    overStreams({ input: new PassThrough(), output, over: new Promise<CtxdError | undefined>(() => {}), destroy() {} }), 32, () => {});
  for (const method of ["a", "b", "c"]) {
    connection.request(method, {}, {}).catch(() => {});
  }
  connection.notify("urgent", {});
  assert.equal(output.writableLength, '{"jsonrpc":"2.0","id":1,"method":"a","params":{}}\n'.length);
  for (const next of [["a"], ["a", "urgent"], ["a", "urgent", "b"], ["a", "urgent", "b", "c"]]) {
    assert.deepEqual(taken, next);
    const drained = once(output, "drain");
    takers.shift()?.();
    await drained;
  }
  connection.destroy();
});

test("what a listener throws is not lost", async () => {
  const code = `
    import { guard } from ${JSON.stringify(new URL("../dist/connection.js", import.meta.url).href)};
    guard(() => { throw new Error("from a listener"); });
    console.log("goes on");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code]);
  let [out, err] = ["", ""];
  child.stdout.on("data", (text) => (out += text));
  child.stderr.on("data", (text) => (err += text));
  const [status] = (await once(child, "close")) as [number];
  assert.equal(status, 1);
  assert.equal(out, "goes on\n");
  assert.match(err, /from a listener/);
});
