import type { Api } from "ctxd-client/bridge";

/** What the page may do. The main process refuses the rest. */
export const api = {
  methods: ["notes.search", "notes.get", "vault.list", "chat.send", "chat.get", "chat.references"],
  topics: ["notes.changed", "index.progress"],
} as const satisfies Api;
