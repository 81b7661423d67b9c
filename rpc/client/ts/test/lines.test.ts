import assert from "node:assert/strict";
import { test } from "node:test";

import { LineReader } from "../dist/lines.js";

const texts = ['{"a":"é 漢 😀"}', '{"b":"\ufeff\u2028"}'];
const bytes = Buffer.from(texts.join("\n") + "\n");

test("a line may be cut anywhere, also within a character", () => {
  for (let cut = 0; cut <= bytes.length; cut++) {
    const reader = new LineReader();
    const lines = [...reader.push(bytes.subarray(0, cut)), ...reader.push(bytes.subarray(cut))];
    assert.deepEqual(lines, texts, `cut after ${cut} bytes`);
  }
});

test("a line may come byte by byte", () => {
  const reader = new LineReader();
  const lines = [...bytes].flatMap((byte) => reader.push(Buffer.of(byte)));
  assert.deepEqual(lines, texts);
});

test("blank lines are passed over, an unfinished one is not given out", () => {
  const reader = new LineReader();
  assert.deepEqual(reader.push(Buffer.from("\n \r\n1\r\n2")), ["1\r"]);
  assert.deepEqual(reader.push(Buffer.from("3\n")), ["23"]);
});
