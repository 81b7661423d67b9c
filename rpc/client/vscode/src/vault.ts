import { realpathSync } from "node:fs";
import * as path from "node:path";
import type { Client, NoteFull, VaultStatus } from "ctxd-client";
import * as vscode from "vscode";

/** What names a file of a vault: the vault may be absent when there is one only. */
export interface Located {
  vault?: string | undefined;
  path?: string | undefined;
}

function real(file: string): string {
  try {
    return realpathSync.native(file);
  } catch {
    return path.resolve(file);
  }
}

/** The path of a file below a folder, with slashes, or undefined for one that lies elsewhere. */
export function inside(folder: string, file: string): string | undefined {
  const rest = path.relative(real(folder), real(file));
  if (rest === "" || rest === ".." || rest.startsWith(`..${path.sep}`) || path.isAbsolute(rest)) return undefined;
  return rest.split(path.sep).join("/");
}

/** The note that a document shows, or undefined for one of no vault. */
export async function noteOf(client: Client, document: vscode.TextDocument): Promise<NoteFull | undefined> {
  if (document.uri.scheme !== "file") return undefined;
  const { vaults } = await client.call("vault.list");
  let best: { vault: VaultStatus; rest: string } | undefined;
  for (const vault of vaults) {
    const rest = inside(vault.path, document.uri.fsPath);
    if (rest !== undefined && (best === undefined || vault.path.length > best.vault.path.length)) best = { vault, rest };
  }
  if (best === undefined) return undefined;
  try {
    return await client.call("notes.get", { ref: best.rest, vault: best.vault.vault });
  } catch (err) {
    // A file that was not read yet, or that is left out.
    if ((err as { kind?: string }).kind === "not_found") return undefined;
    throw err;
  }
}

/** Where the files of records are. */
export async function files(client: Client): Promise<(record: Located) => vscode.Uri | undefined> {
  const { vaults } = await client.call("vault.list");
  return (record) => {
    const vault = record.vault === undefined && vaults.length === 1 ? vaults[0] : vaults.find((v) => v.vault === record.vault);
    if (vault === undefined || record.path === undefined) return undefined;
    return vscode.Uri.file(path.join(vault.path, ...record.path.split("/")));
  };
}

const markers = [".ctxd", ".obsidian", ".silverbullet", "logseq"];

/** Whether a folder of the workspace is a vault, lies in one or contains one. Other Markdown files are no notes. */
export async function hasVault(client: Client, folders: readonly vscode.WorkspaceFolder[]): Promise<boolean> {
  const { vaults } = await client.call("vault.list");
  for (const { uri } of folders) {
    if (uri.scheme !== "file") continue;
    const known = vaults.some(({ path: at }) => real(at) === real(uri.fsPath) || (inside(at, uri.fsPath) ?? inside(uri.fsPath, at)) !== undefined);
    if (known) return true;
    for (const marker of markers) {
      try {
        await vscode.workspace.fs.stat(vscode.Uri.joinPath(uri, marker));
        return true;
      } catch {
        // It is not there.
      }
    }
  }
  return false;
}
