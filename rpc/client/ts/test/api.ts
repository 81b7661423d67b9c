import type { Api } from "ctxd-client/bridge";

/** What the pages of the tests may do. */
export const api = {
  methods: ["notes.put", "notes.get", "notes.search", "vault.import", "chat.send", "chat.get", "chat.confirm", "wql.query"],
  topics: ["notes.changed"],
} as const satisfies Api;
