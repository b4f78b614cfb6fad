// Calls an export on memories: node memory.js MODULE NAME INPUT OUTPUT. The input is words: how many calls; for each the
// size of its memory, how many arguments, a type and two words for each, and the memory. The output has for each call
// how it ended (0 returned, 1 unreachable, 2 else) and the memory.
'use strict';
const fs = require('fs');
const [path, name, from, to] = process.argv.slice(2);
const run = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(path))).exports;
const input = fs.readFileSync(from);
const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
let at = 0;
const word = () => { at += 4; return view.getUint32(at - 4, true); };
const outputs = [];
for (let calls = word(); calls > 0; calls--) {
  const size = word();
  const args = [];
  for (let count = word(); count > 0; count--) {
    const type = word();
    const start = at;
    at += 8;
    if (type === 0) args.push(view.getInt32(start, true));
    else if (type === 1) args.push(view.getFloat32(start, true));
    else args.push(view.getBigInt64(start, true));
  }
  const missing = Math.ceil(size / 65536) - run.memory.buffer.byteLength / 65536;
  if (missing > 0) run.memory.grow(missing);
  const memory = new Uint8Array(run.memory.buffer);
  if (memory.length !== size) throw new Error(`the memory has ${memory.length} bytes, not ${size}`);
  memory.set(input.subarray(at, at + size));
  at += size;
  const end = Buffer.alloc(4);
  try {
    run[name](...args);
  } catch (error) {
    end[0] = /unreachable/.test(error.message) ? 1 : 2;
  }
  outputs.push(end, Buffer.from(memory));
}
fs.writeFileSync(to, Buffer.concat(outputs));
