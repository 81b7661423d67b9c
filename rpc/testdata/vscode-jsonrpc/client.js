// Drives a daemon with the vscode-jsonrpc client, unmodified: initialize, calls
// of all sizes, errors, a cancel, notifications, progress, shutdown. The path of
// the socket is the only argument. Prints "ok" and what was done, or fails.
'use strict';

const assert = require('node:assert');
const net = require('node:net');
const rpc = require('vscode-jsonrpc/node');

const timeout = setTimeout(() => fail(new Error('nothing came for 30 s')), 30_000);

function fail(err) {
  console.error(err);
  process.exit(1);
}

async function rejected(promise) {
  try {
    await promise;
  } catch (err) {
    assert(err instanceof rpc.ResponseError, `not a response error: ${err}`);
    return err;
  }
  throw new assert.AssertionError({ message: 'the call succeeded' });
}

async function main(path) {
  const socket = net.connect(path);
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(socket), new rpc.StreamMessageWriter(socket));
  const problems = [];
  connection.onError(([err]) => problems.push(err));
  connection.listen();

  const early = await rejected(connection.sendRequest('test.history', {}));
  assert.strictEqual(early.code, -32002);

  const init = await connection.sendRequest('initialize', {
    clientInfo: { name: 'vscode-jsonrpc', version: '10.0.0' }, processId: process.pid, protocolVersion: '1.0',
  });
  assert.strictEqual(init.serverInfo.name, 'ctxd');
  await connection.sendNotification('initialized', {});

  for (const text of ['', 'é 😀 <&>\n', 'x'.repeat(10 << 20)]) {
    const got = await connection.sendRequest('test.echo', { text });
    assert.strictEqual(got.text, text);
  }

  const unknown = await rejected(connection.sendRequest('no.such', {}));
  assert.strictEqual(unknown.code, rpc.ErrorCodes.MethodNotFound);
  const invalid = await rejected(connection.sendRequest('test.echo', { text: 5 }));
  assert.strictEqual(invalid.code, rpc.ErrorCodes.InvalidParams);
  assert.strictEqual(invalid.data.field, 'text');
  const large = await rejected(connection.sendRequest('test.echo', { text: 'x'.repeat(17 << 20) }));
  assert.strictEqual(large.code, 1004);

  const source = new rpc.CancellationTokenSource();
  const waiting = connection.sendRequest('test.wait', { name: 'never' }, source.token);
  // A second call in between: the answer shows that the first one was read.
  await connection.sendRequest('test.history', {});
  source.cancel();
  assert.strictEqual((await rejected(waiting)).code, -32800);

  await connection.sendNotification('test.write', { name: 'told' });
  assert.strictEqual(await connection.sendRequest('test.history', {}), 'told');

  const reports = [];
  connection.onProgress(new rpc.ProgressType(), 'token', (value) => reports.push(value));
  connection.onNotification('$/progress', (params) => reports.push(params.kind));
  await connection.sendRequest('test.echo', { text: 'x', progressToken: 'token' });
  assert(reports.length >= 2, `progress: ${JSON.stringify(reports)}`);

  assert.deepStrictEqual(await connection.sendRequest('shutdown'), {});
  const closed = new Promise((resolve) => connection.onClose(resolve));
  await connection.sendNotification('exit');
  await closed;
  assert.deepStrictEqual(problems, []);
  clearTimeout(timeout);
  console.log('ok: handshake, calls up to 10 MB, errors, limit, cancel, notification, progress, shutdown');
}

main(process.argv[2]).catch(fail);
