import type { Daemon } from "./supervise.js";

/** What is used of Electron's app. */
export interface App {
  on(event: "will-quit", listener: (event: { preventDefault(): void }) => void): unknown;
  exit(): void;
}

/** Has the supervision end with the app, and the daemon with it if the app started it. */
export function quitWith(app: App, daemon: Daemon): void {
  app.on("will-quit", (event) => {
    event.preventDefault();
    void daemon.stop().finally(() => app.exit());
  });
}
