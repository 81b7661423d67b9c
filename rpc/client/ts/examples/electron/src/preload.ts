import { contextBridge, ipcRenderer } from "electron";

import { expose } from "ctxd-client/bridge/preload";

expose({ contextBridge, ipcRenderer });
