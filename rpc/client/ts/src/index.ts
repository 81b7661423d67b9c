/**
 * A typed client of ctxd, the local context engine for note apps. Connect, call
 * methods, subscribe to topics; see the README.
 */
export type { Chat, ChatAnswer } from "./chat.js";
export type { CallArguments, Client } from "./client.js";
export { connect } from "./connect.js";
export { CtxdError } from "./errors.js";
export type { CallOptions, ConnectOptions } from "./options.js";
export * from "./protocol.js";
export { defaultPath } from "./socket.js";
export { VersionError, type Older } from "./version.js";
