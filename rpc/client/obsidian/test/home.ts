import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { connect } from "ctxd-client";
import { startModel, type Model } from "../../ts/test/model.js";

/** The program under test, built by whoever runs the tests. */
export const program = process.env["CTXD_BIN"] ?? "ctxd";

/** A home with a vault and a language model; ctxd is started by whoever needs it. */
export interface Home {
  dir: string;
  vault: string;
  model: Model;
  /** Stops the daemon and removes everything. */
  stop(): Promise<void>;
}

const notes = {
  "Kickoff.md": "# Kickoff\n\nGoals: ship the first milestone by June. See [[Harbor]].\n",
  "Sea/Harbor.md": "# Harbor\n\nThe harbor needs dredging before the ships come in spring.\n",
  "Sea/Boats.md": "# Boats\n\nTwo boats and one ship lie in the port, beside the quay.\n",
  "Garden.md": "# Garden\n\nBeans and peas want a trellis. Water in the evening.\n",
  "Diary.md": "---\nprivate: true\n---\n# Diary\n\nNobody reads this about the harbor.\n",
  "Secret plan.md": "# Plan\n\nSee [[Diary]].\n",
  "tides.txt": "The tide turns twice a day. Spring tides come with the full moon.\n",
};

/** Makes a home, which the environment of this process names from now on. */
export async function makeHome(): Promise<Home> {
  const dir = await mkdtemp(join(tmpdir(), "ctxd-obsidian-"));
  const model = await startModel();
  await mkdir(join(dir, "xdg"));
  Object.assign(process.env, model.settings, {
    HOME: dir, TMPDIR: dir, XDG_CONFIG_HOME: join(dir, "xdg"), XDG_RUNTIME_DIR: join(dir, "xdg"), CTXD_DATA: join(dir, "data"),
    CTXD_SOCKET: process.platform === "win32" ? `\\\\.\\pipe\\${dir.split("\\").at(-1)}` : join(dir, "s"),
  });
  const vault = join(dir, "Notes");
  for (const [name, text] of Object.entries(notes)) {
    await mkdir(dirname(join(vault, name)), { recursive: true });
    await writeFile(join(vault, name), text);
  }
  return {
    dir, vault, model,
    async stop() {
      const ctxd = await connect();
      await ctxd.call("admin.stop");
      await ctxd.closed;
      model.stop();
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
