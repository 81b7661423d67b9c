// What the compiler has to accept and to refuse; this file is never run.
import type { Client, CtxdError, MethodName, NoteSaved, Params, Result, SearchHit } from "ctxd-client";
import type { Api, Page } from "ctxd-client/bridge";
import type { api } from "./api.js";

export async function accepted(ctxd: Client): Promise<unknown[]> {
  const note: NoteSaved = await ctxd.call("notes.put", { title: "x" });
  // A record can be read, changed and put back.
  await ctxd.call("notes.put", { ...note, body: "y" });
  await ctxd.call("notes.patch", { id: note.id, path: null });
  const found = await ctxd.call("notes.search", { query: "x", mode: "lexical", filter: { tags: ["a"] } });
  const hit: SearchHit | undefined = found.hits[0];
  const range: [number, number] | undefined = hit?.ranges[0];
  await ctxd.call("admin.health");
  await ctxd.call("admin.health", {}, { signal: AbortSignal.timeout(100) });
  await ctxd.call("notes.list", undefined, { onProgress: ({ kind }: { kind: "begin" | "report" | "end" }) => kind });
  const more: unknown = await ctxd.request("chat.send", { text: "from a newer daemon" });
  const stop: () => Promise<void> = await ctxd.subscribe("notes.changed", ({ ids }) => ids.length);
  return [range, more, stop];
}

// A function over any method.
export async function timed<M extends MethodName>(ctxd: Client, method: M, params: Params<M>): Promise<Result<M>> {
  return (await ctxd.request(method, params)) as Result<M>;
}

export async function refused(ctxd: Client, err: CtxdError): Promise<void> {
  // @ts-expect-error: there is no such method
  await ctxd.call("notes.fetch", {});
  // @ts-expect-error: there is no such parameter
  await ctxd.call("notes.put", { titel: "x" });
  // @ts-expect-error: a parameter is missing
  await ctxd.call("notes.links", {});
  // @ts-expect-error: the params are missing
  await ctxd.call("notes.links");
  // @ts-expect-error: a parameter has another type
  await ctxd.call("notes.links", { ref: 5 });
  // @ts-expect-error: a parameter has another value
  await ctxd.call("notes.search", { query: "x", mode: "fuzzy" });
  // @ts-expect-error: null clears a member of a patch, not of a note
  await ctxd.call("notes.put", { title: null });
  // @ts-expect-error: the method takes no params
  await ctxd.call("admin.health", { verbose: true });
  // @ts-expect-error: a result has no such member
  (await ctxd.call("tags.list")).notes;
  // @ts-expect-error: there is no such topic
  await ctxd.subscribe("notes.read", () => {});
  // @ts-expect-error: an event has no such member
  await ctxd.subscribe("notes.changed", (event) => event.titles);
  // @ts-expect-error: there is no such kind of error
  void (err.kind === "gone");
}

/** A page knows what its api allows, by the same types. */
export async function ofAPage(page: Page<typeof api>, silent: Page<{ methods: ["notes.get"] }>): Promise<void> {
  const found = await page.call("notes.search", { query: "x" }, { signal: AbortSignal.timeout(100) });
  const hit: SearchHit | undefined = found.hits[0];
  const stop: () => Promise<void> = await page.subscribe("notes.changed", ({ ids }) => ids.length);
  for await (const { text } of page.chat.send({ text: hit?.title ?? "" })) {
    void (text satisfies string | undefined);
  }
  page.onState((state) => state.state === "waiting" && state.error.hint);
  void stop;
  // @ts-expect-error: the api does not allow the method
  await page.call("notes.delete", { id: "x" });
  // @ts-expect-error: a parameter has another type
  await page.call("notes.get", { ref: 5 });
  // @ts-expect-error: the api does not allow the topic
  await page.subscribe("memory.changed", () => {});
  // @ts-expect-error: the api does not allow chat.send
  silent.chat.send({ text: "x" });
  // @ts-expect-error: a page can't shut the connection down
  void ({ methods: ["shutdown"] } satisfies Api);
}
