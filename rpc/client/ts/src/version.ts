import { CtxdError } from "./errors.js";
import { ErrorCode, protocolVersion, type InitializeResult } from "./protocol.js";

/** Which of the two is of an older version of the protocol. */
export type Older = "client" | "daemon";

const restart = "restart the daemon with a newer ctxd: ctxd stop, then ctxd serve";

/** The client and the daemon speak versions of the protocol that can't be used together. */
export class VersionError extends CtxdError {
  /** The version that this client speaks. */
  readonly client: string = protocolVersion;
  /** The version that the daemon speaks. */
  readonly daemon: string;
  /** The one to update. */
  readonly older: Older;

  /** Wanted is the version of the program that the client wants, if it is that which the daemon does not have. */
  constructor(daemon: string, older: Older, program?: string, cause?: unknown, wanted?: string) {
    const known = program === undefined ? "the daemon" : `the daemon (version ${program})`;
    const message = wanted !== undefined
      ? `${known} is older than this program wants: version ${wanted}`
      : older === "client"
      ? `this client is older than ${known}: it speaks protocol ${protocolVersion}, the daemon ${daemon}`
      : `${known} is older than this client: it speaks protocol ${daemon}, this client ${protocolVersion}`;
    const hint = older === "client" ? "update the program that connects" : restart;
    super(ErrorCode.Unavailable, message, { kind: "unavailable", hint }, cause === undefined ? undefined : { cause });
    this.daemon = daemon;
    this.older = older;
  }

  override get name(): string {
    return "VersionError";
  }
}

/**
 * The error of a daemon that can't be used, because its major version of the protocol is another; undefined for one
 * that can, and for one that names none.
 */
export function versionError(daemon: unknown, program?: string, cause?: unknown): VersionError | undefined {
  const theirs = majorOf(daemon);
  const ours = majorOf(protocolVersion)!;
  if (theirs === undefined || theirs === ours) {
    return undefined;
  }
  return new VersionError(daemon as string, theirs < ours ? "daemon" : "client", program, cause);
}

function majorOf(version: unknown): number | undefined {
  const found = typeof version === "string" ? /^(\d+)(\.\d+)?$/.exec(version) : null;
  return found === null ? undefined : Number(found[1]);
}

/**
 * Whether a version of a program is older than another: MAJOR.MINOR.PATCH, of which a pre-release comes before its release.
 * What is no version is not older.
 */
export function isOlder(version: string, than: string): boolean {
  const parts = (text: string) => /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(-)?/.exec(text);
  const a = parts(version);
  const b = parts(than);
  if (a === null || b === null) {
    return false;
  }
  for (const i of [1, 2, 3]) {
    const by = Number(a[i] ?? 0) - Number(b[i] ?? 0);
    if (by !== 0) {
      return by < 0;
    }
  }
  return a[4] !== undefined && b[4] === undefined;
}

/** The error of a daemon that is older than wanted; undefined for one that will do. */
export function tooOld(server: InitializeResult, wanted: string | undefined): VersionError | undefined {
  const version = server.serverInfo?.version;
  if (wanted === undefined || version === undefined || !isOlder(version, wanted)) {
    return undefined;
  }
  return new VersionError(server.protocolVersion, "daemon", version, undefined, wanted);
}

/** Makes a call of any method. */
type Request = (method: string, params: object) => Promise<unknown>;

/**
 * Does the handshake, and finds out whether the daemon is of the client's time. One that refuses it describes its
 * protocol all the same.
 */
export async function introduce(request: Request, params: object): Promise<InitializeResult> {
  let server: InitializeResult;
  try {
    server = (await request("initialize", params)) as InitializeResult;
  } catch (err) {
    if (err instanceof CtxdError && err.code === ErrorCode.Unavailable && !err.retryable) {
      const [doc, health] = (await Promise.all([
        request("rpc.discover", {}).catch(() => undefined),
        request("admin.health", {}).catch(() => undefined),
      ])) as [{ info?: { version?: string } } | undefined, { version?: string } | undefined];
      throw versionError(doc?.info?.version, health?.version, err) ?? err;
    }
    throw err;
  }
  const other = versionError(server.protocolVersion, server.serverInfo?.version);
  if (other !== undefined) {
    throw other;
  }
  return server;
}

/**
 * Says of a call that the daemon does not know where that comes from: the method is of this client's contract, so the
 * daemon is older.
 */
export function dated(err: unknown): unknown {
  if (!(err instanceof CtxdError) || err.code !== ErrorCode.MethodNotFound) {
    return err;
  }
  const message = `${err.message}; the daemon is older than this client`;
  return new CtxdError(err.code, message, { ...err, hint: restart }, { cause: err });
}
