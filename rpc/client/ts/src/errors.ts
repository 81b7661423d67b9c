import { ErrorCode, type Candidate, type ErrorData, type ErrorKind } from "./protocol.js";

/**
 * An error that the daemon answered with, or a connection that can't be had or
 * is lost (kind "unavailable"). The message is for people; programs look at
 * kind.
 */
export class CtxdError extends Error {
  /** The code of the error, see ErrorCode. */
  readonly code: number;
  /** The kind of failure by name. */
  readonly kind: ErrorKind;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** What to do about it. */
  declare readonly hint?: string;
  /** What a conflict is about; programs look at it. */
  declare readonly reason?: NonNullable<ErrorData["reason"]>;
  /** With the reasons version and exists: the version that the record has. */
  declare readonly version?: number;
  /** The parameter at fault, dotted, as in entities[3].name. */
  declare readonly field?: string;
  /** Id or name of the record concerned, or the id of the incident in the log. */
  declare readonly ref?: string;
  /** Line in a query text, from 1. */
  declare readonly line?: number;
  /** Column in that line, UTF-16 code units, from 1. */
  declare readonly column?: number;
  /** The records that an ambiguous reference may have meant. */
  declare readonly candidates?: Candidate[];
  /** The method that was called. */
  declare readonly method?: string;

  constructor(code: number, message: string, data: Partial<ErrorData> & { method?: string } = {}, options?: ErrorOptions) {
    super(message, options);
    // Only what is there, so that a printed error shows no row of undefined.
    Object.assign(this, data);
    this.code = code;
    this.kind = (data.kind as ErrorKind | undefined) ?? "internal";
    this.retryable = data.retryable ?? false;
  }

  override get name(): string {
    return "CtxdError";
  }
}

/** An error of the connection itself. */
export function unavailable(
  message: string,
  data: { hint?: string; retryable?: boolean } = {},
  cause?: unknown,
): CtxdError {
  return new CtxdError(
    ErrorCode.Unavailable,
    message,
    { kind: "unavailable", ...data },
    cause === undefined ? undefined : { cause },
  );
}

/** The error of a connection that broke. */
export function lost(cause?: unknown): CtxdError {
  return unavailable(
    "the connection to the daemon is lost",
    { hint: "check whether it runs: ctxd inspect status", retryable: true },
    cause,
  );
}
