/**
 * The preload script's side of the bridge. It runs in the isolated world of a
 * sandboxed page, where there is no Node.
 */
import type { Bridge } from "./api.js";
import { defaultChannel } from "./channel.js";

export type { Bridge } from "./api.js";

/** What is used of Electron. */
export interface PreloadElectron {
  contextBridge: { exposeInMainWorld(name: string, api: unknown): void };
  ipcRenderer: { postMessage(channel: string, message: unknown, ports?: MessagePort[]): void };
}

/** How the bridge is called. */
export interface ExposeOptions {
  /** The property of window; ctxd when absent. */
  name?: string;
  /** The channel, as in servePages; ctxd-bridge when absent. */
  channel?: string;
}

/**
 * Gives the page one function, which opens a way to the main process:
 *
 *     import { contextBridge, ipcRenderer } from "electron";
 *     import { expose } from "ctxd-client/bridge/preload";
 *
 *     expose({ contextBridge, ipcRenderer });
 *
 * The port stays in this world, and with it everything but texts. What a page
 * may call is decided in the main process, which nothing in the page reaches.
 */
export function expose({ contextBridge, ipcRenderer }: PreloadElectron, options: ExposeOptions = {}): void {
  const { name = "ctxd", channel = defaultChannel } = options;
  const bridge: Bridge = {
    open(receive) {
      const { port1, port2 } = new MessageChannel();
      let over = false;
      const end = () => {
        if (!over) {
          over = true;
          port1.close();
          receive(null);
        }
      };
      port1.onmessage = ({ data }: MessageEvent<unknown>) => {
        if (typeof data === "string" && !over) {
          receive(data);
        }
      };
      port1.addEventListener("close", end); // where the browser tells of it
      addEventListener("pagehide", end, { once: true });
      ipcRenderer.postMessage(channel, null, [port2]);
      return {
        send(message) {
          if (typeof message === "string" && !over) {
            port1.postMessage(message);
          }
        },
        close() {
          over = true;
          port1.close();
        },
      };
    },
  };
  contextBridge.exposeInMainWorld(name, bridge);
}
