import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A language model that says back what it was told, in words. Told to wait it
 * begins and never ends; told to refuse it answers with an error.
 */
export interface Model {
  /** The settings of a daemon that asks it. */
  settings: NodeJS.ProcessEnv;
  /** Resolves when the daemon leaves the model that was told something. */
  hungUp(text: string): Promise<void>;
  stop(): void;
}

/** Starts a model. */
export async function startModel(): Promise<Model> {
  const gone = new Map<string, () => void>(); // by what was told: called when the daemon has hung up
  const server = createServer((request, response) => {
    if (!request.url?.endsWith("/chat/completions")) {
      response.writeHead(404).end(); // it tells nothing of what its model takes
      return;
    }
    void answer(request, response, gone);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    settings: {
      CTXD_CHAT_PROVIDER: "echo",
      CTXD_CHAT_PROVIDERS_ECHO_BASE: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
      CTXD_CHAT_PROVIDERS_ECHO_MODEL: "echo",
      CTXD_CHAT_PROVIDERS_ECHO_LOCAL: "true",
    },
    hungUp: (text) => new Promise((resolve) => gone.set(text, resolve)),
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, gone: Map<string, () => void>): Promise<void> {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) {
    body += chunk as string;
  }
  const { messages } = JSON.parse(body) as { messages: { content: string }[] };
  const text = messages.at(-1)?.content.replace(/^refuse\n\n/, "") ?? ""; // what was not answered comes with the next message
  if (text === "refuse") {
    response.writeHead(400).end("no");
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const word of text.split(/(?<= )/)) {
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: word } }] })}\n\n`);
  }
  if (text.startsWith("wait")) {
    response.on("close", () => gone.get(text)?.());
    return;
  }
  response.end('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
}
