// A page in a worker thread: it does what it is told, and tells what it got.
import { parentPort, workerData, type MessagePort } from "node:worker_threads";

import { connect, CtxdError, overPort } from "ctxd-client/bridge/renderer";
import type { api } from "./api.js";

const ctxd = connect<typeof api>(overPort((workerData as { port: MessagePort }).port as never));
let stop = new AbortController();

parentPort?.on("message", async ({ ask, abort, listen }: { ask?: string; abort?: boolean; listen?: boolean }) => {
  if (listen) {
    await ctxd.subscribe("notes.changed", ({ ids }) => parentPort?.postMessage({ changed: ids }));
    parentPort?.postMessage({ listening: true });
  }
  if (abort) {
    stop.abort(new Error("enough"));
    stop = new AbortController();
  }
  if (ask !== undefined) {
    let text = "";
    try {
      const answer = ctxd.chat.send({ text: ask }, { signal: stop.signal });
      for await (const delta of answer) {
        text += delta.type === "text" ? delta.text : "";
        parentPort?.postMessage({ piece: delta.text });
      }
      parentPort?.postMessage({ text, content: (await answer.result).content });
    } catch (err) {
      parentPort?.postMessage({ failed: (err as Error).message, ours: err instanceof CtxdError });
    }
  }
});
