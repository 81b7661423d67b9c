import { connect, CtxdError, type Bridge, type DaemonState, type SearchHit } from "ctxd-client/bridge/renderer";
import type { api } from "./api.js";

declare global {
  interface Window {
    ctxd: Bridge;
  }
}

const ctxd = connect<typeof api>(window.ctxd);

const state = element("state", HTMLParagraphElement);
const query = element("query", HTMLInputElement);
const hits = element("hits", HTMLOListElement);
const note = element("note", HTMLElement);
const talk = element("talk", HTMLDivElement);
const form = element("ask", HTMLFormElement);
const text = element("text", HTMLTextAreaElement);
const send = element("send", HTMLButtonElement);
const stop = element("stop", HTMLButtonElement);

// What is there is told before anything is typed, and again after a restart.

ctxd.onState((now) => {
  show(now);
  if (now.state === "running") {
    conversation = undefined;
    void search();
  }
});
show(ctxd.state);

function show(now: DaemonState): void {
  state.className = "error" in now ? "bad" : "";
  switch (now.state) {
    case "starting":
      return state.replaceChildren("Starting …");
    case "running":
      return state.replaceChildren(`ctxd ${now.server.serverInfo.version}${now.started ? ", started by this app" : ""}`);
    case "waiting":
      return state.replaceChildren(`Restarting: ${now.error.message}`);
    case "failed":
      return state.replaceChildren(`${said(now.error)} `, link("Try again", () => ctxd.retry()));
    case "stopped":
      return state.replaceChildren("Stopped");
  }
}

void ctxd.subscribe("notes.changed", () => void search());
void ctxd.subscribe("index.progress", ({ stage, done, total }) => {
  state.replaceChildren(done < total ? `${stage}: ${done} of ${total}` : "");
  if (done >= total) {
    show(ctxd.state);
  }
});

// A search for what is typed: the one before it is of no use any more.

let searching = new AbortController();

query.addEventListener("input", () => void search());

async function search(): Promise<void> {
  searching.abort();
  const own = new AbortController();
  searching = own;
  try {
    const lines = query.value.trim() === "" ? await vaults(own.signal) : await found(query.value, own.signal);
    if (!own.signal.aborted) {
      hits.replaceChildren(...lines);
    }
  } catch (err) {
    if (!own.signal.aborted) {
      hits.replaceChildren(dim(said(err)));
    }
  }
}

async function found(words: string, signal: AbortSignal): Promise<HTMLElement[]> {
  const result = await ctxd.call("notes.search", { query: words, limit: 8 }, { signal });
  return result.hits.length > 0 ? result.hits.map(item) : [dim("Nothing found.")];
}

async function vaults(signal: AbortSignal): Promise<HTMLElement[]> {
  const result = await ctxd.call("vault.list", {}, { signal });
  const lines = result.vaults.map(({ vault, notes }) => dim(`${vault}: ${notes} ${notes === 1 ? "note" : "notes"}`));
  return lines.length > 0 ? lines : [dim("No folder of notes so far. Start the app with one: npm start -- FOLDER")];
}

function item(hit: SearchHit): HTMLElement {
  const line = document.createElement("li");
  const snippet = document.createElement("p");
  let at = 0;
  for (const [start, end] of hit.ranges) {
    const mark = document.createElement("mark");
    mark.append(hit.snippet.slice(start, end));
    snippet.append(hit.snippet.slice(at, start), mark);
    at = end;
  }
  snippet.append(hit.snippet.slice(at));
  line.append(link(hit.title, () => read(hit.id)), snippet);
  return line;
}

async function read(id: string): Promise<void> {
  note.hidden = false;
  try {
    const { title, body } = await ctxd.call("notes.get", { ref: id });
    const head = document.createElement("strong");
    head.append(title);
    note.replaceChildren(head, "\n\n", body);
  } catch (err) {
    note.replaceChildren(said(err));
  }
}

// The chat. Answers come piece by piece, with what they stand on.

let conversation: string | undefined;
let answering: AbortController | undefined;

text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    form.requestSubmit();
  }
});
stop.addEventListener("click", () => answering?.abort());
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const question = text.value.trim();
  if (question !== "" && answering === undefined) {
    text.value = "";
    void ask(question);
  }
});

async function ask(question: string): Promise<void> {
  const own = new AbortController();
  answering = own;
  [send.hidden, stop.hidden] = [true, false];
  bubble("user").append(question);
  const box = bubble("assistant");
  try {
    const answer = ctxd.chat.send({ text: question, ...(conversation && { conversationId: conversation }) }, { signal: own.signal });
    for await (const delta of answer) {
      conversation = delta.conversationId;
      if (delta.type === "text") {
        box.append(delta.text ?? "");
      } else if (delta.type === "warning") {
        box.append(problem(delta.data?.warning?.message ?? ""));
      }
      talk.scrollTop = talk.scrollHeight;
    }
    const { conversationId, assistantMessage } = await answer.result;
    if (box.textContent === "") {
      box.append(assistantMessage.content);
    }
    await cite(box, conversationId, assistantMessage.id);
  } catch (err) {
    box.append(own.signal.aborted ? dim(" (stopped)") : problem(said(err)));
  } finally {
    answering = undefined;
    [send.hidden, stop.hidden] = [false, true];
    text.focus();
  }
}

async function cite(box: HTMLElement, conversationId: string, messageId: string): Promise<void> {
  const { items } = await ctxd.call("chat.references", { conversationId, messageId });
  if (items.length > 0) {
    const sources = document.createElement("div");
    sources.className = "sources";
    sources.append(...items.map(({ label, noteId }) => (noteId ? link(label, () => read(noteId)) : label)));
    box.append(sources);
    talk.scrollTop = talk.scrollHeight;
  }
}

function bubble(who: "user" | "assistant"): HTMLElement {
  const box = document.createElement("div");
  box.className = `said ${who}`;
  talk.append(box);
  talk.scrollTop = talk.scrollHeight;
  return box;
}

// Small parts. Text of notes and models is only ever text.

function link(label: string, open: () => unknown): HTMLElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "link";
  button.append(label);
  button.addEventListener("click", open);
  return button;
}

function dim(words: string): HTMLElement {
  const span = document.createElement("span");
  span.className = "dim";
  span.append(words);
  return span;
}

function problem(words: string): HTMLElement {
  const line = document.createElement("div");
  line.className = "problem";
  line.append(words);
  return line;
}

function said(err: unknown): string {
  return err instanceof CtxdError && err.hint ? `${err.message}. ${err.hint}` : String((err as Error).message ?? err);
}

function element<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) {
    throw new Error(`the page has no ${id}`);
  }
  return found;
}
