import { Notice, PluginSettingTab, Setting, type App } from "obsidian";

import { said } from "./engine.js";
import type CtxdPlugin from "./main.js";

/** What the person has chosen; kept by the app in the plugin's data.json. */
export interface Settings {
  /** The program ctxd: a path, or a name in $PATH. */
  program: string;
  /** How many related notes are shown. */
  related: number;
  /** How many notes a search adds to the context of a note. */
  searchNotes: number;
  /** Whether the context that is copied has private notes in it. */
  copyPrivate: boolean;
}

export const defaults: Settings = { program: "ctxd", related: 10, searchNotes: 3, copyPrivate: false };

/** The tab of the plugin in the app's settings. */
export class SettingsTab extends PluginSettingTab {
  readonly #plugin: CtxdPlugin;

  constructor(app: App, plugin: CtxdPlugin) {
    super(app, plugin);
    this.#plugin = plugin;
  }

  override display(): void {
    const { containerEl } = this;
    const { settings } = this.#plugin;
    containerEl.empty();
    void this.#status(new Setting(containerEl).setName("This vault"));
    new Setting(containerEl)
      .setName("Program")
      .setDesc("The path of ctxd, or its name where it is in the path of your programs. On macOS apps do not know the path of your terminal: give the whole path there.")
      .addText((text) => text.setPlaceholder(defaults.program).setValue(settings.program).onChange(async (value) => {
        settings.program = value.trim() || defaults.program;
        await this.#plugin.saveSettings();
      }))
      .addExtraButton((button) => button.setIcon("refresh-cw").setTooltip("Connect again").onClick(() => {
        this.#plugin.connect();
        this.display();
      }));
    new Setting(containerEl)
      .setName("Related notes")
      .setDesc("How many are shown.")
      .addSlider((slider) => slider.setLimits(3, 30, 1).setValue(settings.related).onChange(async (value) => {
        settings.related = value;
        await this.#plugin.saveSettings();
      }));
    new Setting(containerEl)
      .setName("Notes in a context")
      .setDesc("How many notes a search adds to the context of a note that is copied.")
      .addSlider((slider) => slider.setLimits(0, 8, 1).setValue(settings.searchNotes).onChange(async (value) => {
        settings.searchNotes = value;
        await this.#plugin.saveSettings();
      }));
    new Setting(containerEl)
      .setName("Copy private notes too")
      .setDesc("The context that is copied may go to a model elsewhere. Notes with private: true, and those of folders that ctxd is told to keep private, are left out of it unless this is on.")
      .addToggle((toggle) => toggle.setValue(settings.copyPrivate).onChange(async (value) => {
        settings.copyPrivate = value;
        await this.#plugin.saveSettings();
      }));
  }

  async #status(line: Setting): Promise<void> {
    try {
      const status = await this.#plugin.engine.status();
      if (status === undefined) {
        line.setDesc("ctxd does not know it so far. It reads the notes and follows their changes; it writes nothing into the vault.");
        line.addButton((button) => button.setButtonText("Index this vault").setCta().onClick(async () => {
          button.setDisabled(true);
          await this.#plugin.importVault();
          this.display();
        }));
        return;
      }
      const followed = status.watching ? "Changes are followed." : "Changes are not followed.";
      const problems = status.errors.length === 0 ? "" : ` ${status.errors.length} files were skipped or read in part.`;
      line.setDesc(`${status.notes} notes of “${status.vault}” are known. ${followed}${problems}`);
      if (!status.watching) {
        line.addButton((button) => button.setButtonText("Follow changes").onClick(async () => {
          await this.#plugin.importVault();
          this.display();
        }));
      }
    } catch (err) {
      line.setDesc(said(err));
      new Notice(said(err));
    }
  }
}
