// @ts-check
// A note app's sidecar from its first call to its last, over a vault that it makes. See README.md.

import { execFileSync, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";

import { connect, CtxdError, VersionError } from "ctxd-client";

/** @import { Client, ConnectOptions, NoteItem } from "ctxd-client" */

const size = Number(process.argv[2] ?? 200);
const program = process.env["CTXD_BIN"] ?? "ctxd";
const newer = process.env["CTXD_NEWER"]; // another ctxd, to upgrade to

// Everything lies in a folder of its own. The daemon that the command starts has the environment of this process.
const home = process.env["SIDECAR_HOME"] ??= mkdtempSync(join(tmpdir(), "sidecar-"));
const notes = join(home, "notes");
process.env["CTXD_SOCKET"] = process.platform === "win32" ? `\\\\.\\pipe\\${home.replace(/\W/g, "-")}` : join(home, "ctxd.sock");
process.env["CTXD_DATA"] = join(home, "data");
process.env["CTXD_CONFIG"] = join(home, "config.yaml");

const people = ["Alice Novak", "Bob Reyes", "Chen Wei", "Dora Lind"];

/** @param {number} i */
const projectName = (i) => `Project ${String(i).padStart(5, "0")}`;

function makeVault() {
  writeFileSync(join(home, "config.yaml"), "idleExit: 1m\n");
  for (const folder of ["People", "Projects"]) mkdirSync(join(notes, folder), { recursive: true });
  for (const name of people) writeFileSync(join(notes, "People", `${name}.md`), `---\ntype: Person\nrole: Engineer\n---\n# ${name}\n`);
  for (let i = 0; i < size - people.length; i++) {
    const lead = people[i % people.length];
    writeFileSync(join(notes, "Projects", `${projectName(i)}.md`), `# ${projectName(i)}\n\nLed by [[${lead}]], after [[${projectName(i >> 1)}]]. #active\n`);
  }
}

let last = performance.now();

/** @param {string} step @param {string} text */
function log(step, text) {
  const now = performance.now();
  console.log(`${(now - last).toFixed(0).padStart(6)} ms  ${step.padEnd(10)}  ${text}`);
  last = now;
}

/** @param {unknown} ok @param {string} what */
function check(ok, what) {
  if (!ok) throw new Error(`this should hold: ${what}`);
}

const stop = new AbortController();

/** Connects, and starts a daemon when none runs. @param {ConnectOptions} [more] */
function open(more) {
  return connect({ command: [program, "stdio"], name: "sidecar", version: "1.0.0", signal: stop.signal, ...more });
}

/** @type {Promise<Client> | undefined} */
let current;

/** The client of the app, made anew when its daemon has died. */
const client = () => (current ??= open());

/**
 * Does a piece of work with the client, once more where the daemon went away meanwhile. Work that changes something names
 * the ids of what it makes, so that it may be done twice.
 * @template T
 * @param {(ctxd: Client) => Promise<T>} work
 * @returns {Promise<T>}
 */
async function lasting(work) {
  for (let tries = 1; ; tries++) {
    const used = client();
    /** @type {Client | undefined} */
    let ctxd;
    try {
      return await work((ctxd = await used));
    } catch (err) {
      if (!(err instanceof CtxdError) || !err.retryable || tries === 5) throw err;
      if (current === used && !ctxd?.open) current = undefined; // the first to find out has a new one made
    }
  }
}

async function follow() {
  const ctxd = await client();
  let told = 0;
  const found = await ctxd.call("vault.import", { path: notes, watch: true }, { signal: stop.signal, onProgress: () => told++ });
  log("vault", `${found.notes} notes, ${found.entities} entities, ${found.links} links; told ${told} times how far it is; followed`);
  check(found.notes === size, "every file is a note");
}

async function menu() {
  const ctxd = await client();
  let typing = new AbortController();
  let withdrawn = 0;
  /** @type {NoteItem[]} */
  let shown = [];
  const keys = [..."Project 00"].map((_, at, all) => all.slice(0, at + 1).join(""));
  await Promise.all(keys.map(async (prefix) => {
    typing.abort(); // what was asked for the key before is stale
    typing = new AbortController();
    const { signal } = typing;
    try {
      const { items } = await ctxd.call("notes.complete", { prefix, limit: 8 }, { signal });
      if (!signal.aborted) shown = items;
    } catch (err) {
      if (!signal.aborted) throw err;
      withdrawn++;
    }
  }));
  log("menu", `[[${keys.at(-1)}: ${shown.length} notes, first [[${shown[0]?.insert}]]; ${withdrawn} stale requests withdrawn`);
  check(shown[0]?.title.startsWith("Project 00"), "the menu shows what the last key asks for");
}

async function panel() {
  const ctxd = await client();
  const { items } = await ctxd.call("entities.complete", { prefix: "Al" });
  const entity = await ctxd.call("entities.get", { ref: items[0]?.id ?? "" });
  const note = await ctxd.call("notes.get", { ref: entity.noteId ?? "" });
  log("panel", `@${entity.name} (${entity.type}): ${Object.entries(entity.fields).map(([k, v]) => `${k} ${v}`).join(", ")}; ${note.backlinks.length} backlinks`);
  check(entity.name === "Alice Novak" && note.backlinks.length > 0, "the panel shows the person and who links to her");
}

async function save() {
  const ctxd = await client();
  const read = await ctxd.call("notes.put", { id: "plan", title: "Plan", body: "One." });
  await ctxd.call("notes.patch", { id: "plan", body: "One. Another window wrote this." }); // meanwhile
  try {
    await ctxd.call("notes.patch", { id: "plan", body: "One. Two.", ifVersion: read.version });
    check(false, "a stale save is refused");
  } catch (err) {
    if (!(err instanceof CtxdError) || err.kind !== "conflict") throw err;
    const theirs = await ctxd.call("notes.get", { ref: "plan" });
    const saved = await ctxd.call("notes.patch", { id: "plan", body: `${theirs.body} Two.`, ifVersion: theirs.version });
    log("save", `"${err.message}"; both texts joined and saved as version ${saved.version}`);
  }
}

async function events() {
  const ctxd = await client();
  /** @type {(ids: string[]) => void} */
  let hear = () => {};
  const heard = /** @type {Promise<string[]>} */ (new Promise((resolve) => (hear = resolve)));
  const unsubscribe = await ctxd.subscribe("notes.changed", ({ ids }) => hear(ids));
  const began = performance.now();
  writeFileSync(join(notes, "Projects", `${projectName(0)}.md`), `# ${projectName(0)}\n\nWritten by another editor.\n`);
  const [id = ""] = await heard;
  const note = await ctxd.call("notes.get", { ref: id });
  log("events", `${note.path} was changed on the disk, told ${(performance.now() - began).toFixed(0)} ms later`);
  await unsubscribe();
  check(note.body.includes("another editor"), "who reads after an event reads what is new");
}

async function ask() {
  const { answer, text } = await lasting(async (ctxd) => {
    const answer = ctxd.chat.send({ text: "Who leads [[Project 00001]]?" }, { signal: stop.signal });
    let pieces = 0, text = "";
    for await (const delta of answer) {
      if (delta.type === "text") pieces++, (text += delta.text);
    }
    const { assistantMessage } = await answer.result;
    return { answer: assistantMessage, text: `${pieces} pieces: ${text}` };
  });
  log("chat", `${text.replace(/\s+/g, " ")} (${answer.finish})`);
}

/** A language model of this machine that answers with what it finds in its context. */
async function startModel() {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    if (!request.url?.endsWith("/chat/completions")) return void response.writeHead(404).end();
    const lead = /Led by (\[\[.*?\]\])/.exec(JSON.parse(body).messages.map((/** @type {{content: string}} */ m) => m.content).join("\n"));
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const word of ["It ", "is ", "led ", "by ", lead?.[1] ?? "nobody", "."]) {
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: word } }] })}\n\n`);
    }
    response.end('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  server.unref();
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  writeFileSync(join(home, "config.yaml"), `idleExit: 1m
chat:
  provider: ours
  model: finder
  providers:
    ours: {base: "http://127.0.0.1:${port}/v1", local: true}
`);
}

async function kill() {
  const { pid } = await (await client()).call("admin.health");
  const acknowledged = new Set();
  let again = 0;
  await Promise.all(Array.from({ length: 200 }, (_, i) => {
    let tries = 0;
    return lasting(async (ctxd) => {
      if (tries++ > 0) again++;
      await ctxd.call("notes.put", { id: `kill-${i}`, title: `Written ${i}`, body: "Under fire." });
      acknowledged.add(i);
      if (acknowledged.size === 50) process.kill(pid, "SIGKILL");
    });
  }));
  const after = await lasting((ctxd) => ctxd.call("admin.health"));
  for (const i of acknowledged) await lasting((ctxd) => ctxd.call("notes.get", { ref: `kill-${i}` }));
  log("kill -9", `${acknowledged.size} notes saved while the daemon died, ${again} of them sent again; what was acknowledged is there`);
  check(after.pid !== pid && again > 0, "another daemon has taken over");
}

// The other app is this program in a process of its own: it answers messages with what it reads.
async function otherApp() {
  const ctxd = await open({ name: "another-app" });
  process.on("message", async (ref) => {
    const { pid } = await ctxd.call("admin.health");
    process.send?.({ pid, title: (await ctxd.call("notes.get", { ref: String(ref) })).title });
  });
  void ctxd.closed.then((lost) => lost && process.exit(1));
  process.once("disconnect", () => void ctxd.close().then(() => process.exit()));
  process.send?.("ready");
}

async function apps() {
  const other = fork(fileURLToPath(import.meta.url), ["other"]);
  await once(other, "message", stop);
  /** @returns {Promise<{ pid: number, title: string }>} */
  const read = async () => {
    other.send("plan");
    return (await once(other, "message", stop))[0];
  };
  const { pid, version } = await lasting((ctxd) => ctxd.call("admin.health"));
  await (await client()).close(); // the app that started the daemon ends
  const { pid: same, title } = await read();
  log("two apps", `one daemon for both; the first app has ended, and the other still reads "${title}"`);
  check(pid === same, "both apps use one daemon");

  const wanted = newer === undefined ? "999.0" : String(JSON.parse(String(execFileSync(newer, ["version", "--json"]))).version);
  const upgraded = { command: [newer ?? program, "stdio"], minVersion: wanted };
  const refused = await open(upgraded).then(() => undefined, (/** @type {unknown} */ err) => err);
  if (!(refused instanceof VersionError)) throw refused ?? new Error("the daemon of another app was replaced");
  check((await read()).pid === pid, "the daemon of another app goes on");
  log("upgrade", `with another app: "${refused.message}"`);
  other.disconnect();
  await once(other, "exit", stop);
  current = open(upgraded).catch((err) => {
    if (newer !== undefined || !(err instanceof VersionError)) throw err;
    return open(); // there is no newer program here
  });
  const after = await lasting((ctxd) => ctxd.call("admin.health"));
  await lasting((ctxd) => ctxd.call("notes.get", { ref: "plan" }));
  log("upgrade", `alone: ctxd ${version} was stopped, ctxd ${after.version} has its place and its notes`);
  check(after.pid !== pid, "the daemon is a new one");
}

async function main() {
  makeVault();
  log("made", `${size} notes`);
  const { serverInfo, protocolVersion } = (await client()).server;
  log("connect", `ctxd ${serverInfo.version}, protocol ${protocolVersion}; the command has started it`);
  for (const step of [follow, menu, panel, save, events, ask, startModel, kill, ask, apps]) {
    await step();
    stop.signal.throwIfAborted();
  }
}

/** Stops the daemon and leaves nothing behind. */
async function leave() {
  await current?.then((ctxd) => ctxd.close(), () => undefined);
  if (stop.signal.aborted) await (await open({ signal: undefined })).close(); // a daemon may have been starting: it is up now
  spawnSync(program, ["stop"]);
  rmSync(home, { recursive: true, force: true });
}

process.on("SIGINT", () => stop.abort(new Error("interrupted")));
if (process.argv[2] === "other") {
  await otherApp().catch(() => process.exit(1));
} else {
  try {
    await main();
  } catch (err) {
    console.error(stop.signal.aborted ? "interrupted" : err);
    process.exitCode = stop.signal.aborted ? 130 : 1;
  }
  await leave();
}
