import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { app, BrowserWindow, ipcMain } from "electron";

import { quitWith, servePages, supervise } from "ctxd-client/bridge";
import { api } from "./api.js";

const here = dirname(fileURLToPath(import.meta.url));
const index = join(here, "index.html");

// A packaged app brings its own ctxd along.
const program = app.isPackaged ? join(process.resourcesPath, "ctxd") : process.env["CTXD_BIN"];

const daemon = supervise({ name: app.getName(), version: app.getVersion(), program });
quitWith(app, daemon);
servePages(ipcMain, daemon, api, { accept: (url) => url === pathToFileURL(index).href });

// npm start -- FOLDER follows a folder of notes; nothing is written into it.
const folder = process.argv.slice(app.isPackaged ? 1 : 2).find((argument) => !argument.startsWith("-"));
daemon.onState((state) => {
  if (state.state === "running" && folder !== undefined) {
    follow(resolve(folder)).catch((err: unknown) => console.error(err));
  }
});

async function follow(path: string): Promise<void> {
  const client = await daemon.connect();
  try {
    await client.call("vault.import", { path, watch: true });
  } finally {
    await client.close();
  }
}

async function open(): Promise<void> {
  const window = new BrowserWindow({
    width: 1100,
    height: 760,
    webPreferences: {
      preload: join(here, "preload.cjs"),
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
    },
  });
  window.webContents.setWindowOpenHandler(() => ({ action: "deny" }));
  window.webContents.on("will-navigate", (event) => event.preventDefault());
  await window.loadFile(index);
}

app.on("window-all-closed", () => app.quit());
void app.whenReady().then(open);
