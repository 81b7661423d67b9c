/**
 * The main process's side of the bridge: one daemon for the app, and the pages
 * that may use it. The other sides are ctxd-client/bridge/preload and
 * ctxd-client/bridge/renderer.
 */
export type { Allowed, AllowedTopic, Api, Bridge, Page, PageMethod } from "./api.js";
export { serve, servePages, type IpcMain, type PageEvent, type PagePort, type ServePagesOptions } from "./pages.js";
export { quitWith, type App } from "./quit.js";
export type { DaemonState } from "./state.js";
export { supervise, type Daemon, type SuperviseOptions } from "./supervise.js";
