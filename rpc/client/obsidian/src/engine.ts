import { realpath } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";

import {
  CtxdError,
  type ChatAction,
  type ChatAnswer,
  type ChatShownReference,
  type Client,
  type NotesSearchParams,
  type Progress,
  type SearchHit,
  type VaultStatus,
} from "ctxd-client";
import { Link, type LinkOptions } from "./link.js";

/** Where the engine is, and which vault the app shows. */
export interface EngineOptions extends LinkOptions {
  /** The folder of the vault. */
  vault: string;
}

/** A note that was found; its path is one of the app's. */
export interface Found {
  id: string;
  path: string;
  title: string;
  snippet: string;
  /** What matched in the snippet, half-open. */
  ranges: [number, number][];
  /** Whether the note at hand links to it, or it links to that. */
  linked: boolean;
}

/** The context of a note, and what is to be said of it. */
export interface Context {
  text: string;
  /** Notes and entities that were left out because they are private. */
  withheld: number;
}

/** What an answer stands on; the path is one of the app's, absent for what is no note of this vault. */
export interface Source {
  label: string;
  path?: string;
  heading?: string;
  note?: string;
}

/** Who answers in the chat. */
export interface Answerer {
  name: string;
  /** The server that messages are sent to; absent when nothing leaves this machine. */
  server?: string;
}

/**
 * What the plugin asks of ctxd, in terms of the vault that the app shows. It
 * knows nothing of the app. A vault that ctxd does not know yet is imported on
 * demand alone; nothing is ever written into it.
 */
export class Engine {
  readonly #options: EngineOptions;
  readonly #link: Link;
  #vault: Promise<Known | undefined> | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#link = new Link({
      ...options,
      onChange: (topic) => {
        if (topic !== "notes.changed") {
          this.#vault = undefined; // there may be one now
        }
        options.onChange?.(topic);
      },
    });
  }

  close(): void {
    this.#link.close();
  }

  /** The state of the vault; undefined when ctxd does not know it. */
  async status(): Promise<VaultStatus | undefined> {
    const known = await this.#known();
    if (known === undefined) {
      return undefined;
    }
    return (await this.#link.client()).call("vault.status", { vault: known.name });
  }

  /** Imports the vault and has it followed from now on. Resolves with the number of its notes. */
  async importVault(onProgress?: (progress: Progress) => void, signal?: AbortSignal): Promise<number> {
    const client = await this.#link.client();
    const { notes } = await client.call("vault.import", { path: resolve(this.#options.vault), watch: true }, { onProgress, signal });
    this.#vault = undefined;
    return notes;
  }

  /** Notes that are near to one in meaning, nearest first. None for a note that ctxd does not know. */
  async related(path: string, limit: number, signal?: AbortSignal): Promise<Found[]> {
    const client = await this.#link.client();
    const known = await this.#need();
    const note = await orNone(client.call("notes.get", { ref: known.prefix + path, vault: known.name }, { signal }));
    if (note === undefined) {
      return [];
    }
    const linked = new Set([...note.links.map((link) => link.id), ...note.backlinks.map(({ id }) => id)]);
    const { hits } = await client.call("notes.similar", { ref: note.id, limit: Math.min(2 * limit, 100) }, { signal });
    return this.#found(known, hits, linked).slice(0, limit);
  }

  /** Notes of the vault by words and meaning, or by meaning alone; best first. */
  async search(query: string, mode: NonNullable<NotesSearchParams["mode"]>, limit: number, signal?: AbortSignal): Promise<Found[]> {
    if (query.trim() === "") {
      return [];
    }
    const client = await this.#link.client();
    const known = await this.#need();
    const filter = { vaults: [known.name], ...(known.prefix !== "" && { folder: known.prefix.slice(0, -1) }) };
    const { hits } = await client.call("notes.search", { query, mode, limit, filter }, { signal });
    return this.#found(known, hits);
  }

  /**
   * What a model should know of a note: the note, its entities and notes like
   * it. Where it goes from the clipboard is not known, so private notes are left
   * out unless they are asked for.
   */
  async context(path: string, options: { private: boolean; searchNotes: number }): Promise<Context> {
    const client = await this.#link.client();
    const known = await this.#need();
    const note = await client.call("notes.get", { ref: known.prefix + path, vault: known.name });
    const { system, report } = await client.call("context.assemble", {
      text: note.title,
      mentionedNoteIds: [note.id],
      searchNotes: options.searchNotes,
      audience: options.private ? "local" : "remote",
      personality: false,
    });
    const withheld = report.dropped.filter(({ reason }) => reason === "private").length;
    return { text: system, withheld: note.private && !options.private ? Math.max(withheld, 1) : withheld };
  }

  /** Who answers in the chat; undefined when nobody is configured. */
  async answerer(): Promise<Answerer | undefined> {
    const { default: name, providers } = await (await this.#link.client()).call("chat.providers");
    const one = providers.find((provider) => provider.name === name);
    if (one === undefined) {
      return undefined;
    }
    return one.local ? { name } : { name, server: new URL(one.base).host };
  }

  /** Has a message answered. What comes of it is iterated over; leaving the loop, and the signal, stop it. */
  async ask(text: string, options: { conversation?: string | undefined; note?: string | undefined; signal?: AbortSignal }): Promise<ChatAnswer> {
    const client = await this.#link.client();
    const mentioned = options.note === undefined ? undefined : await this.#idOf(client, options.note);
    return client.chat.send({
      text,
      ...(options.conversation !== undefined && { conversationId: options.conversation }),
      ...(mentioned !== undefined && { mentionedNoteIds: [mentioned] }),
    }, { signal: options.signal });
  }

  /** What an answer stands on, as it is now. */
  async sources(conversationId: string, messageId: string): Promise<Source[]> {
    const client = await this.#link.client();
    const { items } = await client.call("chat.references", { conversationId, messageId });
    const known = await this.#known();
    return Promise.all(items.map(async (item) => sourceOf(item, await this.#pathOf(client, item, known))));
  }

  /**
   * Does what an answer proposes. What is left to the app comes back: words to
   * search for, or what there is to say. A book is read by ctxd, from its file.
   */
  async confirm(action: ChatAction, onProgress?: (progress: Progress) => void): Promise<{ search?: string; said: string }> {
    const client = await this.#link.client();
    const done = await client.call("chat.confirm", { id: action.id });
    if (done.status === "failed") {
      return { said: done.failure ?? "It could not be done." };
    }
    if (!done.forClient || done.repeat) {
      return { said: "Done." };
    }
    const { path, conversationId, query } = done.args as { path?: string; conversationId?: string; query?: string };
    if (done.type === "book" && path !== undefined) {
      const { book } = await client.call("books.add", {
        path: resolve(this.#options.vault, path),
        ...(conversationId !== undefined && { conversationId }),
      }, { onProgress });
      return { said: `“${book.title}” can be asked about now.` };
    }
    if (done.type === "search" && query !== undefined) {
      return { search: query, said: "" };
    }
    if (done.edit !== undefined) {
      return { said: `Change it in ${done.edit.path}: ${done.edit.line ?? `${done.edit.field}: ${done.edit.value}`}` };
    }
    return { said: "It is left to you: this app has no place for it." };
  }

  /** Says no to what an answer proposes. */
  async reject(action: ChatAction): Promise<void> {
    await (await this.#link.client()).call("chat.reject", { id: action.id });
  }

  #found(known: Known, hits: SearchHit[], linked: ReadonlySet<string | undefined> = new Set()): Found[] {
    const found: Found[] = [];
    for (const { id, title, snippet, ranges, path, vault } of hits) {
      const own = pathIn(known, path, vault);
      if (own !== undefined) {
        found.push({ id, title, snippet, ranges, path: own, linked: linked.has(id) });
      }
    }
    return found;
  }

  async #idOf(client: Client, path: string): Promise<string | undefined> {
    const known = await this.#known();
    return known && (await orNone(client.call("notes.get", { ref: known.prefix + path, vault: known.name })))?.id;
  }

  // pathOf is the path of a note that is cited; a reference does not say of
  // which vault it is.
  async #pathOf(client: Client, item: ChatShownReference, known: Known | undefined): Promise<string | undefined> {
    if (!item.clickable || item.noteId === undefined || known === undefined) {
      return undefined;
    }
    const vault = known.only ? known.name : (await orNone(client.call("notes.get", { ref: item.noteId })))?.vault;
    return vault === undefined ? undefined : pathIn(known, item.relativePath, vault);
  }

  async #need(): Promise<Known> {
    const known = await this.#known();
    if (known === undefined) {
      throw new UnknownVault();
    }
    return known;
  }

  #known(): Promise<Known | undefined> {
    this.#vault ??= this.#find();
    this.#vault.catch(() => (this.#vault = undefined));
    return this.#vault;
  }

  // find looks for the vault that is the folder of the app, or one around it.
  async #find(): Promise<Known | undefined> {
    const client = await this.#link.client();
    const { vaults } = await client.call("vault.list");
    const own = await real(this.#options.vault);
    for (const { vault, path } of vaults) {
      const inside = relative(await real(path), own);
      if (inside === "") {
        return { name: vault, prefix: "", only: vaults.length === 1 };
      }
      if (inside !== ".." && !inside.startsWith(".." + sep) && !isAbsolute(inside)) {
        return { name: vault, prefix: inside.split(sep).join("/") + "/", only: vaults.length === 1 };
      }
    }
    return undefined;
  }
}

/** ctxd does not know the vault so far. */
export class UnknownVault extends Error {
  constructor() {
    super("ctxd does not know this vault so far.");
  }
}

/** The vault as ctxd knows it, and the folder in it that the app shows, with / at its end. */
interface Known {
  name: string;
  prefix: string;
  /** Whether it is the only one, so that each note is of it. */
  only: boolean;
}

// pathIn is a path of the app; undefined for a note that the app does not show.
function pathIn(known: Known, path: string | undefined, vault: string | undefined): string | undefined {
  if (path === undefined || (vault ?? known.name) !== known.name || !path.startsWith(known.prefix)) {
    return undefined;
  }
  return path.slice(known.prefix.length);
}

function sourceOf(item: ChatShownReference, path: string | undefined): Source {
  const heading = item.uri?.split("#")[1];
  return {
    label: item.label,
    ...(path !== undefined && { path }),
    ...(path !== undefined && heading !== undefined && { heading: decodeURIComponent(heading) }),
    ...(item.reason !== undefined && { note: item.reason }),
  };
}

async function real(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path));
}

async function orNone<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (err) {
    if (err instanceof CtxdError && err.kind === "not_found") {
      return undefined;
    }
    throw err;
  }
}

/** An error in a sentence or two, for people. */
export function said(err: unknown): string {
  if (err instanceof CtxdError && err.hint) {
    return `${err.message}. Try: ${err.hint}`;
  }
  return err instanceof Error ? err.message : String(err);
}
