// Runs jobs on memory wrappers: node runner.js INPUT OUTPUT. Both files are little-endian words;
// node.rs (`encode`, `decode`) writes the one and reads the other.
"use strict";
const fs = require("fs");

const [I32, F32, V128] = [0, 1, 2];
const RACK = 16;
const file = fs.readFileSync(process.argv[2]);
const input = new Uint32Array(file.buffer.slice(file.byteOffset, file.byteOffset + file.length));
const floats = new Float32Array(input.buffer);
const results = [];
let at = 0;

function bytes() {
  const length = input[at++];
  const found = new Uint8Array(input.buffer, at * 4, length);
  at += (length + 3) >> 2;
  return found;
}

// Makes one call from the words at `at`. Racks lie at the end of the memory, the result's first.
function call(wrapper, memory, result, params) {
  let place = memory.buffer.byteLength - RACK * (params.length + 1);
  const out = place;
  const given = [];
  if (result === V128) {
    new Uint8Array(memory.buffer, out, RACK).fill(0xa5);
    given.push(out);
  }
  for (const type of params) {
    if (type === V128) {
      place += RACK;
      new Uint8Array(memory.buffer, place, RACK).set(new Uint8Array(input.buffer, at * 4, RACK));
      given.push(place);
      at += RACK / 4;
    } else {
      given.push(type === F32 ? floats[at] : input[at] | 0);
      at++;
    }
  }
  const returned = wrapper(...given);
  if (result === V128) {
    results.push(Buffer.from(new Uint8Array(memory.buffer, out, RACK)));
  } else {
    const word = Buffer.alloc(4);
    if (result === F32) word.writeFloatLE(returned);
    else word.writeInt32LE(returned);
    results.push(word);
  }
}

function run() {
  const jobs = input[at++];
  let exported;
  for (let job = 0; job < jobs; job++) {
    let record = 0;
    try {
      if (!input[at++]) exported = new WebAssembly.Instance(new WebAssembly.Module(bytes())).exports;
      const name = new TextDecoder().decode(bytes());
      const result = input[at++];
      const params = Array.from(input.subarray(at + 1, at + 1 + input[at]));
      at += 1 + params.length;
      const count = input[at++];
      const wrapper = exported[name];
      if (typeof wrapper !== "function") throw new Error(`the module exports no function \`${name}\``);
      const takes = params.length + (result === V128 ? 1 : 0);
      if (wrapper.length !== takes) throw new Error(`\`${name}\` takes ${wrapper.length} parameters, not ${takes}`);
      if (!(exported.memory instanceof WebAssembly.Memory)) throw new Error("the module exports no `memory`");
      for (; record < count; record++) call(wrapper, exported.memory, result, params);
    } catch (error) {
      console.error(`job ${job}, record ${record}: ${error}`);
      process.exit(1);
    }
  }
  fs.writeFileSync(process.argv[3], Buffer.concat(results));
}

run();
