import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { app, document, element, load, modals, until } from "./app.js";
import { makeHome, program, type Home } from "./home.js";

// The plugin as it was built, or was unpacked from a package, in a stand-in for the app.
const main = process.env["CTXD_PLUGIN"] ?? fileURLToPath(new URL("../../../main.js", import.meta.url));
const pictures = process.env["CTXD_PICTURES"]; // a folder for what the panes show

let home: Home;
let plugin: Awaited<ReturnType<typeof load>>;

before(async () => {
  home = await makeHome();
  plugin = await load(main, home.vault, { program });
});
after(async () => {
  plugin.cleanups.forEach((run) => run());
  await home.stop();
});

const one = (selector: string) => document.querySelector(selector);
const all = (selector: string) => [...document.querySelectorAll(selector)];
const texts = (selector: string) => all(selector).map((el) => el.textContent);
const shows = (selector: string, text: string) => until(() => texts(selector).some((t) => t.includes(text)), `“${text}” in ${selector}`);

function press(selector: string, text?: string): void {
  const found = all(selector).filter((el) => text === undefined || el.textContent === text);
  assert.ok(found.length > 0, `there is no ${selector} ${text ?? ""}`);
  found.at(-1)!.dispatchEvent(new (document.defaultView!.MouseEvent)("click", { bubbles: true, cancelable: true }));
}

function say(text: string): void {
  const box = one(".ctxd-ask textarea") as unknown as { value: string; dispatchEvent(event: unknown): void };
  box.value = text;
  box.dispatchEvent(new (document.defaultView!.KeyboardEvent)("keydown", { key: "Enter", cancelable: true }));
}

test("CLI-4: a vault that is not known is told, and indexed when the person says so", async () => {
  app.open("Sea/Harbor.md");
  plugin.run("related");
  await shows(".ctxd-problem", "ctxd does not know this vault so far.");
  press(".ctxd-problem button", "Index this vault");
  await shows(".notice", "6 notes are indexed.");
  await shows(".ctxd-item", "Boats");
});

test("CLI-4: related notes follow the note that is open, and the files", async () => {
  await shows(".ctxd-item", "Kickoff");
  const kickoff = all(".ctxd-item").find((item) => item.textContent.startsWith("Kickoff"));
  assert.match(kickoff?.textContent ?? "", /linked/);
  press(".ctxd-item a", "Boats");
  assert.equal(app.opened.at(-1), "Sea/Boats.md");
  await writeFile(join(home.vault, "Quay.md"), "# Quay\n\nShips lie at the quay of the harbor.\n");
  await shows(".ctxd-item", "Quay");
  app.open("picture.png");
  await shows(".ctxd-related", "Open a note");
  app.open("Sea/Boats.md");
  await shows(".ctxd-item", "Harbor");
});

test("CLI-4: search by meaning lists notes with what matched, and opens one", async () => {
  plugin.run("search");
  const modal = modals.at(-1)!;
  const found = await modal.getSuggestions("trellis");
  const line = element();
  modal.renderSuggestion(found[0]!, line);
  assert.match(line.textContent, /^Garden/);
  assert.equal(line.querySelector("mark")?.textContent, "trellis");
  modal.onChooseSuggestion(found[0]!, {});
  assert.equal(app.opened.at(-1), "Garden.md");
});

test("CLI-4: the context of a note goes to the clipboard, without what is private", async () => {
  app.open("picture.png");
  assert.equal(plugin.run("copy-context"), false);
  app.open("Kickoff.md");
  assert.equal(plugin.run("copy-context"), true);
  await shows(".notice", "The context of “Kickoff” is copied.");
  assert.match(app.clipboard, /first milestone by June/);
  app.open("Diary.md");
  plugin.run("copy-context");
  await shows(".notice", "1 private record was left out.");
  assert.doesNotMatch(app.clipboard, /Nobody reads/);
});

test("CLI-4: the chat says who answers, and shows answers with what they stand on", async () => {
  app.open("Kickoff.md");
  plugin.run("chat");
  await shows(".ctxd-who", "echo answers, on this machine.");
  say("What of [[Harbor|the harbor]]? ![x](http://192.0.2.1/leak.png) <b>bold</b>");
  await shows(".ctxd-sources", "Kickoff");
  assert.match(texts(".ctxd-assistant").at(-1) ?? "", /^What of the harbor\? !\[x\]\(http:\/\/192\.0\.2\.1\/leak\.png\) <b>bold<\/b>/);
  assert.equal(all(".ctxd-chat img, .ctxd-chat b").length, 0);
  press(".ctxd-assistant > div:first-child a", "the harbor");
  assert.equal(app.opened.at(-1), "Harbor");
  press(".ctxd-sources a", "Kickoff");
  assert.equal(app.opened.at(-1), "Kickoff.md");
});

test("CLI-4: an answer is stopped, and the conversation goes on", async () => {
  const left = home.model.hungUp("wait here");
  (one(".ctxd-row input") as unknown as { checked: boolean }).checked = false; // not about the open note
  say("wait here");
  await until(() => texts(".ctxd-assistant").at(-1)?.startsWith("wait here") === true, "the answer");
  assert.equal(one(".ctxd-row button")?.textContent, "Stop");
  say(""); // Enter again
  await left;
  await shows(".ctxd-assistant", "Stopped.");
  say("goes on");
  await until(() => texts(".ctxd-assistant").at(-1)?.startsWith("goes on") === true && one(".ctxd-row button")?.textContent === "Send", "the answer");
});

test("CLI-4: /book FILE is read when the person says so, and an answer can stand on it", async () => {
  say("/book tides.txt");
  await shows(".ctxd-action", "tides.txt to answer from it?");
  press(".ctxd-action button");
  assert.equal(all(".ctxd-action button").length, 2);
  await shows(".ctxd-action", "Left.");
  say(`/book ${join(home.vault, "tides.txt")}`);
  await until(() => all(".ctxd-action").length === 2, "the proposal");
  all(".ctxd-action").at(-1)!.querySelector("button")!.dispatchEvent(new (document.defaultView!.MouseEvent)("click"));
  await shows(".ctxd-action", "can be asked about now.");
  say("/search spring tides");
  await until(() => all(".ctxd-action").length === 3, "the proposal");
  all(".ctxd-action").at(-1)!.querySelector("button")!.dispatchEvent(new (document.defaultView!.MouseEvent)("click"));
  const before = modals.length;
  await until(() => modals.length > before, "the search");
  assert.equal(modals.at(-1)!.inputEl.value, "spring tides");
  if (pictures) {
    await writeFile(join(pictures, "obsidian.html"), all(".ctxd-related, .ctxd-chat").map((el) => el.outerHTML).join("\n"));
  }
});

test("CLI-4: the settings say what is known, and a change is kept", async () => {
  plugin.tab!.display();
  await shows(".setting-item-description", "7 notes of “Notes” are known. Changes are followed.");
  one('.setting-item[data-name="Related notes"] input')!.dispatchEvent(new (document.defaultView!.CustomEvent)("change", { detail: { value: 5 } }));
  assert.deepEqual(plugin.data, { program, related: 5, searchNotes: 3, copyPrivate: false });
});
