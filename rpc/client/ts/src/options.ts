import type { Progress } from "./protocol.js";

/** Where the daemon is and who the client is. */
export interface ConnectOptions {
  /** The path of the socket; see defaultPath when it is absent. */
  path?: string | undefined;
  /**
   * A command to speak with instead of a socket, such as ["ctxd", "stdio"],
   * which starts a daemon when none runs.
   */
  command?: readonly string[] | undefined;
  /** The name of the program, for ctxd's log and ctxd inspect. */
  name?: string | undefined;
  /** The version of the program. */
  version?: string | undefined;
  /** For whom the client reads: remote for one that sends what it gets to a model elsewhere, which gets nothing private. local when absent. */
  audience?: "local" | "remote" | undefined;
  /**
   * The oldest version of the daemon's program that will do, such as "0.2.0". An older daemon is stopped and started anew
   * by the command, where no other program uses it; else the promise is rejected with a VersionError.
   */
  minVersion?: string | undefined;
  /** Close the connection when this process ends; for one that isn't our own. */
  processId?: number | undefined;
  /** Calls that are unanswered at a time; more wait in the client. 32 when absent; the daemon takes 64. */
  maxInFlight?: number | undefined;
  /** Gives up connecting. It has no bearing on what comes later. */
  signal?: AbortSignal | undefined;
  /** Gets every notification that no listener and no call waits for. */
  onNotification?: ((method: string, params: unknown) => void) | undefined;
}

/** What a call may be given beside its params. */
export interface CallOptions {
  /**
   * Withdraws the call. The promise is then rejected with the signal's reason,
   * unless a result comes all the same: a change that has begun completes, and
   * its result is worth knowing.
   */
  signal?: AbortSignal | undefined;
  /** Is told how far the daemon has come. */
  onProgress?: ((progress: Progress) => void) | undefined;
}
