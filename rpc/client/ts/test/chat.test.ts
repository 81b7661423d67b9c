import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { CtxdError, type ChatDelta, type Client } from "ctxd-client";
import { failure, rejection, start, type Daemon } from "./daemon.js";
import { startModel, type Model } from "./model.js";

let model: Model;
let daemon: Daemon;
let ctxd: Client;
const rest: ChatDelta[] = []; // that no call waited for

before(async () => {
  model = await startModel();
  daemon = await start(model.settings);
  ctxd = await daemon.connect({ onNotification: (_, params) => rest.push(params as ChatDelta) });
});
after(async () => {
  await daemon.stop();
  model.stop();
});

async function textOf(answer: AsyncIterable<ChatDelta>): Promise<string> {
  let text = "";
  let seq = 0;
  for await (const delta of answer) {
    assert.equal(delta.seq, ++seq);
    seq = delta.lastSeq ?? seq;
    text += delta.type === "text" ? delta.text : "";
  }
  return text;
}

test("CHAT-17: an answer is iterated over, and its texts are what is stored", async () => {
  const answer = ctxd.chat.send({ text: "one two 😀 three" });
  assert.equal(await textOf(answer), "one two 😀 three");
  const { content, conversationId, assistantMessage } = await answer.result;
  assert.equal(content, "one two 😀 three");
  const { messages, conversation } = await ctxd.call("chat.get", { ref: conversationId });
  assert.deepEqual(messages.map(({ role, id }) => [role, id]).at(-1), ["assistant", assistantMessage.id]);

  const again = ctxd.chat.send({ text: "by its handle", conversationId: conversation.handle ?? "" });
  const iterator = again[Symbol.asyncIterator]();
  let last = await iterator.next();
  while (!last.done) {
    last = await iterator.next();
  }
  assert.equal(last.value?.content, "by its handle"); // the result is the value at the end
  assert.equal((await again.result).conversationId, conversationId);
  await assert.rejects(again[Symbol.asyncIterator]().next(), TypeError);
});

test("CHAT-16: answers side by side get their own deltas", async () => {
  const texts = ["a b c", "d e", "f g h i", "j", "k l"];
  const answers = texts.map((text) => ctxd.chat.send({ text }));
  assert.deepEqual(await Promise.all(answers.map(textOf)), texts);
  const ids = await Promise.all(answers.map(async ({ result }) => (await result).conversationId));
  assert.equal(new Set(ids).size, texts.length);
  const named = ids.map((conversationId, i) => ctxd.chat.send({ conversationId, text: `${texts[i]} again` }));
  assert.deepEqual(await Promise.all(named.map(textOf)), texts.map((text) => `${text} again`));
  assert.deepEqual(rest, []);
});

test("CHAT-18: a signal, and leaving the loop, stop an answer", async () => {
  const stop = new AbortController();
  const first = model.hungUp("wait here");
  const answer = ctxd.chat.send({ text: "wait here" }, { signal: stop.signal });
  const reason = new Error("enough");
  let id = "";
  const err = await rejection((async () => {
    for await (const delta of answer) {
      id = delta.conversationId;
      stop.abort(reason);
    }
  })());
  assert.equal(err, reason);
  assert.equal(await rejection(answer.result), reason);
  await first;
  assert.equal(await textOf(ctxd.chat.send({ text: "goes on", conversationId: id })), "goes on");
  const { messages } = await ctxd.call("chat.get", { ref: id });
  assert.deepEqual(messages.map(({ role, finish }) => `${role} ${finish}`), [
    "user complete", "assistant cancelled", "user complete", "assistant complete",
  ]);
  assert.match(messages[1]?.content ?? "", /^wait/);

  const second = model.hungUp("wait there");
  for await (const delta of ctxd.chat.send({ text: "wait there", conversationId: id })) {
    assert.equal(delta.seq, 1);
    break;
  }
  await second;

  const aborted = ctxd.chat.send({ text: "never" }, { signal: stop.signal });
  assert.equal(await rejection(aborted.result), reason);
  assert.equal(await textOf(ctxd.chat.send({ text: "goes on" })), "goes on");
});

test("CHAT-16, CHAT-18: errors are CtxdErrors, in the loop and of the result", async () => {
  const refused = ctxd.chat.send({ text: "refuse" });
  const err = await failure(textOf(refused));
  assert.equal(err.kind, "unavailable");
  assert.ok(err.ref && err.hint);
  assert.equal(await failure(refused.result), err);
  assert.equal((await failure(ctxd.chat.send({ text: " " }).result)).field, "text");
  assert.equal((await failure(ctxd.chat.send({ text: "x", conversationId: "nobody" }).result)).kind, "not_found");

  const stop = new AbortController();
  const left = model.hungUp("wait long");
  const long = ctxd.chat.send({ text: "wait long", conversationId: err.ref }, { signal: stop.signal });
  const iterator = long[Symbol.asyncIterator]();
  const begun = await iterator.next();
  assert.ok(!begun.done);
  const conflict = await failure(textOf(ctxd.chat.send({ text: "too", conversationId: err.ref })));
  assert.equal(conflict.kind, "conflict");
  assert.equal(conflict.ref, begun.value.messageId);
  stop.abort();
  await left;
  assert.ok(!((await rejection(long.result)) instanceof CtxdError));
});

test("CHAT-17: what others are answered comes to onNotification", async () => {
  const { conversationId } = await ctxd.chat.send({ text: "hello" }).result;
  const other = await daemon.connect();
  await ctxd.call("chat.follow", { conversationId });
  const { assistantMessage } = await other.chat.send({ text: "said elsewhere", conversationId }).result;
  await ctxd.call("admin.health");
  assert.deepEqual([...new Set(rest.map(({ messageId }) => messageId))], [assistantMessage.id]);
  assert.equal(rest.map(({ text }) => text ?? "").join(""), "said elsewhere");
});
