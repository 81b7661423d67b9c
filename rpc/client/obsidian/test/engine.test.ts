import assert from "node:assert/strict";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { connect, CtxdError, type ChatAction, type ChatAnswer } from "ctxd-client";
import { Engine, said, UnknownVault } from "../src/engine.js";
import { makeHome, program, type Home } from "./home.js";

let home: Home;
let vault: string;
const engines: Engine[] = [];

before(async () => {
  home = await makeHome();
  vault = home.vault;
});
after(() => {
  engines.forEach((engine) => engine.close());
  return home.stop();
});

function engine(options: Partial<ConstructorParameters<typeof Engine>[0]> = {}): Engine {
  const one = new Engine({ program, version: "0.1.0", vault, ...options });
  engines.push(one);
  return one;
}

async function rejection(promise: Promise<unknown>): Promise<Error> {
  return promise.then(() => assert.fail("it succeeded"), (err: Error) => err);
}

async function read(answer: ChatAnswer): Promise<string> {
  let text = "";
  for await (const delta of answer) {
    text += delta.type === "text" ? delta.text : "";
  }
  return text;
}

test("CLI-4: a program that is not there is told with what helps", async () => {
  const states: [boolean, string | undefined][] = [];
  const one = engine({ program: "/no/such/ctxd", onState: (connected, why) => states.push([connected, why?.message]) });
  const err = await rejection(one.status());
  assert.ok(err instanceof CtxdError);
  assert.match(said(err), /^\/no\/such\/ctxd can't be run\. Try: install ctxd/);
  assert.deepEqual(states[0], [false, "/no/such/ctxd can't be run"]);
  one.close();
  assert.equal((await rejection(one.status())).message, "the plugin is unloaded");
});

test("CLI-4: a vault is imported when it is asked for, and nothing is written into it", async () => {
  const one = engine();
  assert.equal(await one.status(), undefined);
  assert.ok(await rejection(one.related("Kickoff.md", 5)) instanceof UnknownVault);
  const before = await contents(vault);
  const stages: string[] = [];
  assert.equal(await one.importVault(({ kind }) => stages.push(kind)), 6);
  assert.ok(stages.includes("end"));
  const status = await one.status();
  assert.equal(status?.watching, true);
  assert.equal(status?.notes, 6);
  assert.deepEqual(await contents(vault), before);
});

async function contents(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  return Promise.all(names.map(async (entry) => {
    const path = join(entry.parentPath, entry.name);
    return entry.isFile() ? `${path} ${await readFile(path, "utf8")}` : path;
  }));
}

test("CLI-4: related notes are near in meaning, and say which are linked", async () => {
  const one = engine();
  // The meaning of notes is known a little after their import.
  let found = await one.related("Sea/Harbor.md", 3);
  while (found.length < 3) {
    found = await one.related("Sea/Harbor.md", 3);
  }
  assert.ok(found.some(({ path, title, linked }) => path === "Sea/Boats.md" && title === "Boats" && !linked), JSON.stringify(found));
  assert.deepEqual((await one.related("Sea/Harbor.md", 10)).filter(({ linked }) => linked).map(({ path }) => path), ["Kickoff.md"]);
  assert.deepEqual(await one.related("not there.md", 3), []);
});

test("CLI-4: search finds by meaning, by words, and what is typed on withdraws the search before it", async () => {
  const one = engine();
  const byMeaning = await one.search("vessels at sea", "semantic", 2);
  assert.ok(byMeaning.every(({ path }) => path.startsWith("Sea/")), JSON.stringify(byMeaning));
  const [first] = await one.search("trellis", "hybrid", 5);
  assert.equal(first?.path, "Garden.md");
  assert.deepEqual(first?.ranges.map(([start, end]) => first.snippet.slice(start, end)), ["trellis"]);
  assert.deepEqual(await one.search(" ", "hybrid", 5), []);
  const stop = new AbortController();
  const withdrawn = one.search("harbor", "hybrid", 5, stop.signal).catch((err: Error) => err);
  stop.abort(new Error("typed on"));
  const result = await withdrawn; // unless the answer was faster
  assert.ok(Array.isArray(result) || (result as Error).message === "typed on");
});

test("CLI-4: the context of a note is that for a model, without what is private", async () => {
  const one = engine();
  const { text, withheld } = await one.context("Kickoff.md", { private: false, searchNotes: 0 });
  assert.match(text, /first milestone by June/);
  assert.equal(withheld, 0);
  const closed = await one.context("Diary.md", { private: false, searchNotes: 3 });
  assert.doesNotMatch(closed.text, /Nobody reads/);
  assert.equal(closed.withheld, 1);
  assert.match((await one.context("Diary.md", { private: true, searchNotes: 0 })).text, /Nobody reads this/);
  assert.doesNotMatch((await one.context("Secret plan.md", { private: false, searchNotes: 0 })).text, /Diary/);
});

test("CLI-4: the chat streams, stands on notes of the vault, and is stopped", async () => {
  const one = engine();
  assert.deepEqual(await one.answerer(), { name: "echo" });
  const answer = await one.ask("What does [[Kickoff#Kickoff]] say?", { note: "Sea/Harbor.md" });
  assert.match(await read(answer), /^What does/);
  const { conversationId, assistantMessage } = await answer.result;
  const sources = await one.sources(conversationId, assistantMessage.id);
  assert.ok(sources.some(({ path, heading }) => path === "Kickoff.md" && heading === "Kickoff"), JSON.stringify(sources));

  const left = home.model.hungUp("wait here");
  const stop = new AbortController();
  const long = await one.ask("wait here", { conversation: conversationId, signal: stop.signal });
  for await (const delta of long) {
    assert.equal(delta.conversationId, conversationId);
    stop.abort(new Error("enough"));
    break;
  }
  await left;
  assert.match(await read(await one.ask("goes on", { conversation: conversationId })), /^goes on/);
});

// propose has an answer propose what the text orders.
async function propose(one: Engine, text: string): Promise<ChatAction> {
  const answer = await one.ask(text, {});
  await read(answer);
  const [action] = (await answer.result).actions;
  assert.ok(action, "nothing is proposed");
  return action;
}

test("CLI-4: /book adds a file of the vault, /search searches, and saying no does nothing", async () => {
  const one = engine();
  const book = await propose(one, `/book ${join(vault, "tides.txt")}`);
  assert.equal(book.type, "book");
  assert.match((await one.confirm(book)).said, /^“.+” can be asked about now\.$/);
  assert.equal((await one.confirm(book)).said, "Done."); // once
  const ctxd = await connect();
  assert.equal((await ctxd.call("books.list", { conversationId: String(book.args["conversationId"]) })).books.length, 1);

  const missing = await propose(one, `/book ${join(vault, "nothing.txt")}`).then((action) => one.confirm(action)).catch((err: Error) => err);
  assert.ok(missing instanceof CtxdError && missing.message, "a file that is not there is an error");
  assert.deepEqual(await one.confirm(await propose(one, "/search spring tides")), { search: "spring tides", said: "" });

  const memory = await propose(one, "/remember the quay is closed on Sundays");
  await one.reject(memory);
  assert.equal((await ctxd.call("memory.list")).memories.length, 0);
  assert.equal((await one.confirm(await propose(one, "/remember the quay is open on Mondays"))).said, "Done.");
  assert.equal((await ctxd.call("memory.list")).memories.length, 1);
  await ctxd.close();
});

test("CLI-4: a vault within one that ctxd knows, or behind a link, is found with its own paths", async () => {
  const inner = engine({ vault: join(vault, "Sea") });
  assert.equal((await inner.related("Harbor.md", 5)).find(({ title }) => title === "Boats")?.path, "Boats.md");
  assert.ok((await inner.search("trellis", "lexical", 5)).length === 0);
  if (process.platform !== "win32") {
    await symlink(vault, join(home.dir, "link"));
    assert.equal((await engine({ vault: join(home.dir, "link") }).search("trellis", "lexical", 5))[0]?.path, "Garden.md");
  }
  const other = join(home.dir, "Other");
  await mkdir(other);
  await writeFile(join(other, "Kickoff.md"), "# Kickoff\n\nAnother trellis.\n");
  const second = engine({ vault: other });
  assert.equal(await second.importVault(), 1);
  assert.deepEqual((await second.search("trellis", "lexical", 5)).map(({ path }) => path), ["Kickoff.md"]);
  const answer = await second.ask("What of [[Garden]]?", {});
  await read(answer);
  const { conversationId, assistantMessage } = await answer.result;
  const [source] = await second.sources(conversationId, assistantMessage.id);
  assert.equal(source?.label, "Garden");
  assert.equal(source?.path, undefined); // of another vault: this app can't open it
});

test("CLI-4: a daemon that was stopped is started by who asks something, and not by itself", async () => {
  const ctxd = await connect();
  let lost: () => void;
  const broken = new Promise<void>((resolve) => (lost = resolve));
  const one = engine({ onState: (connected) => connected || lost() });
  await one.status();
  await ctxd.call("admin.stop");
  await Promise.all([ctxd.closed, broken]);
  assert.equal((await one.search("trellis", "lexical", 1))[0]?.path, "Garden.md");
  one.close();
});

test("CLI-4: changes are told, and a connection that breaks is made again", async () => {
  const states: boolean[] = [];
  const changes: string[] = [];
  let wake: () => void = () => undefined;
  const one = engine({
    onState: (connected) => (states.push(connected), wake()),
    onChange: (topic) => (changes.push(topic), wake()),
  });
  const until = async (condition: () => boolean) => {
    while (!condition()) {
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  await one.status();
  await writeFile(join(vault, "New.md"), "# New\n\nA lighthouse.\n");
  let seen = 0;
  do { // the file may be noticed before its text is there
    await until(() => changes.length > seen);
    seen = changes.length;
  } while ((await one.search("lighthouse", "lexical", 1))[0]?.path !== "New.md");
  assert.ok(changes.includes("notes.changed"));

  const ctxd = await connect();
  await ctxd.call("admin.stop");
  await ctxd.closed;
  await until(() => states.length === 2);
  await (await connect({ command: [program, "stdio"] })).close(); // somebody starts it again
  await until(() => states.length === 3);
  assert.deepEqual(states, [true, false, true]);
  assert.ok(changes.filter((topic) => topic === "all").length === 2);
  assert.equal((await one.search("lighthouse", "lexical", 1))[0]?.path, "New.md");
});
