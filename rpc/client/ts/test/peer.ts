import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { connect, type Client, type ConnectOptions } from "ctxd-client";

/** A message as it came from the client. */
export interface Request {
  id?: number;
  method: string;
  params: Record<string, unknown>;
}

/**
 * The other end of one connection, which does what a test says: what no daemon
 * should do, or not at the moment that the test needs.
 */
export class Peer {
  readonly socket: Socket;
  readonly #lines: AsyncIterator<string>;
  readonly #cleanUp: () => Promise<void>;

  private constructor(socket: Socket, cleanUp: () => Promise<void>) {
    this.socket = socket;
    this.#lines = createInterface(socket)[Symbol.asyncIterator]();
    this.#cleanUp = cleanUp;
  }

  /** Listens, and hands over the client's side as it connects. */
  static async meet(options: ConnectOptions = {}): Promise<{ peer: Peer; connecting: Promise<Client> }> {
    const dir = await mkdtemp(join(tmpdir(), "ctxd-ts-"));
    const path = process.platform === "win32" ? `\\\\.\\pipe\\${dir.split("\\").at(-1)}` : join(dir, "s");
    const server = createServer();
    server.listen(path);
    await once(server, "listening");
    const connecting = connect({ path, ...options });
    connecting.catch(() => {}); // the test looks at it later
    const [socket] = (await once(server, "connection")) as [Socket];
    socket.on("error", () => {}); // the client may go at any moment
    server.close();
    return { peer: new Peer(socket, () => rm(dir, { recursive: true })), connecting };
  }

  /** Listens, and answers the handshake. */
  static async open(options: ConnectOptions = {}): Promise<{ peer: Peer; client: Client }> {
    const { peer, connecting } = await Peer.meet(options);
    const { id } = await peer.next();
    peer.send({ id, result: { serverInfo: { name: "peer" } } });
    const client = await connecting;
    await peer.next(); // initialized
    return { peer, client };
  }

  /** Returns the next message of the client. */
  async next(): Promise<Request> {
    const line = await this.#lines.next();
    if (line.done) {
      throw new Error("the client sent nothing more");
    }
    return JSON.parse(line.value) as Request;
  }

  /** Whether the client has ended its side, with nothing left unread. */
  async ended(): Promise<boolean> {
    return (await this.#lines.next()).done === true;
  }

  send(message: object): void {
    this.socket.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  }

  async close(): Promise<void> {
    this.socket.destroy();
    await this.#cleanUp();
  }
}
