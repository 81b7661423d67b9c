import { CtxdError } from "../errors.js";
import type { ErrorData, InitializeResult } from "../protocol.js";

/** Where the daemon of an app stands. */
export type DaemonState =
  /** It is being looked for or started. Calls wait. */
  | { readonly state: "starting" }
  /** It answers. */
  | {
      readonly state: "running";
      /** What it says of itself. */
      readonly server: InitializeResult;
      /** Whether the app started it, and stops it; else it ran already. */
      readonly started: boolean;
    }
  /** It died, or could not be started, and is started again soon. Calls wait. */
  | { readonly state: "waiting"; readonly error: CtxdError; readonly retryInMs: number }
  /** Starting it again as it is helps nothing. Calls are refused with the error. It is tried again all the same, and at retry. */
  | { readonly state: "failed"; readonly error: CtxdError; readonly retryInMs: number }
  /** The app is done with it. */
  | { readonly state: "stopped" };

/** The notification that tells a page of a state. No method of the daemon has such a name. */
export const stateMethod = "bridge/state";

/** The notification by which a page asks that the daemon is tried again now. */
export const retryMethod = "bridge/retry";

/** An error, as it goes to a page. */
export interface WireError {
  code: number;
  message: string;
  data: ErrorData;
}

/** Takes an error apart, so that nothing of what the daemon said is lost. The method is known where the call was made. */
export function toWire(error: CtxdError): WireError {
  const { code, method: _, ...data } = { ...error };
  return { code, message: error.message, data };
}

/** A state, as it goes to a page. */
export function stateToWire(state: DaemonState): object {
  return "error" in state ? { ...state, error: toWire(state.error) } : state;
}

/** A state that came from the main process. */
export function stateFromWire(params: unknown): DaemonState {
  const state = params as { error?: WireError };
  if (state.error === undefined) {
    return params as DaemonState;
  }
  const { code, message, data } = state.error;
  return { ...state, error: new CtxdError(code, message, data) } as DaemonState;
}
