// Shares inputs and opens outputs as clients did in recorded runs (vectors/client). Needs node, and the module built:
// make wasm.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { Client, PRIME_128, signed, signedModulo } from "./client.mjs";

const module = process.env.TACIT_CLIENT_WASM;
const folder = new URL("../../../vectors/client/", import.meta.url);
const client = await Client.load(readFileSync(module));
const vectors = readdirSync(folder).map((name) => JSON.parse(readFileSync(new URL(name, folder))));

test("there are vectors of each protocol", () => {
  const protocols = vectors.map((vector) => vector.protocol).sort();
  assert.deepEqual(protocols, ["astra", "astra-malicious", "gmw", "mascot", "replicated", "replicated-malicious"]);
});

// Five numbers of a vector's elements: if these are bits, each number's follow one another, the lowest first.
const numbers = (elements, { of }) => {
  if (of === "prime128") {
    return signedModulo(elements, PRIME_128);
  }
  if (of !== "bits") {
    return signed(elements, Number(of.replace("ring", "")));
  }
  const width = elements.length / 5;
  const number = (at) => elements.slice(width * at, width * (at + 1)).reduce((sum, bit, row) => sum | (bit << BigInt(row)), 0n);
  return signed([0, 1, 2, 3, 4].map(number), width);
};

for (const { protocol, shares, opens } of vectors) {
  test(`${protocol}: inputs are shared and outputs opened as in a run`, () => {
    for (const { request, answer } of [...shares, ...opens]) {
      assert.deepEqual(client.call(request), answer);
    }
    const [{ request }] = opens;
    const { do: _, ...open } = request;
    assert.deepEqual(numbers(client.open(open), request), [-3000n, 5n, 0n, 49n, -8000n]);
    const { do: way, values, ...share } = shares[0].request;
    const ways = { share: "share", "share-additive": "shareAdditive", "share-masked": "shareMasked" };
    assert.deepEqual(client[ways[way]]({ ...share, values: values.map(BigInt) }), shares[0].answer.messages);
  });

  test(`${protocol}: what doesn't fit is no output`, () => {
    const { request } = opens[0];
    const short = structuredClone(request);
    short.parts[0][0] = short.parts[0][0].slice(2);
    assert.match(client.call(short).error, /another length/);
    const flip = (text, digit) => text.slice(0, digit) + (parseInt(text[digit], 16) ^ 1).toString(16) + text.slice(digit + 1);
    // One bit of each element that a party sends of a mask, or of what all say alike.
    const told = [...shares, ...opens].map(({ request }) => request);
    for (const one of told.filter((request) => ["share-masked", "open-checked"].includes(request.do))) {
      for (let digit = 1; digit < one.parts[1][0].length; digit += 32) {
        const changed = structuredClone(one);
        changed.parts[1][0] = flip(changed.parts[1][0], digit);
        assert.match(client.call(changed).error, /doesn't fit its proof|party 1 says something else/);
      }
      assert.match(client.call({ ...one, parts: [] }).error, /two at least/);
    }
    if (request.confirmations === undefined) {
      return;
    }
    // One bit of each component, each acceptance and each digest; another session, plan, output or family.
    const changes = [
      (vector) => (vector.session = flip(vector.session, 0)),
      (vector) => (vector.plan = 1),
      (vector) => (vector.output = 1),
      (vector) => (vector.family = "other"),
    ];
    for (let at = 0; at < 3; at++) {
      changes.push((vector) => (vector.parts[at][0] = flip(vector.parts[at][0], 3)));
      changes.push((vector) => (vector.confirmations[at].message = flip(vector.confirmations[at].message, 5)));
      changes.push((vector) => (vector.confirmations[at].message = flip(vector.confirmations[at].message, 100)));
    }
    for (const change of changes) {
      const changed = structuredClone(request);
      change(changed);
      assert.match(client.call(changed).error, /accepts something else|different components/, change.toString());
    }
  });
}

test("shares of an input that add up are opened", () => {
  const keys = ["01".repeat(16), "02".repeat(16)];
  const rest = client.shareAdditive({ input: 3, keys, lane: 0, of: "ring32", values: [-1n, 77n] });
  assert.equal(rest.length, 1);
  assert.deepEqual(signed(client.open({ of: "ring32", count: 2, parts: [rest] }), 32).length, 2);
  assert.throws(() => client.shareAdditive({ input: 3, keys, lane: 0, of: "ring8", values: [256n] }), /no number modulo 2\^8/);
});

test("numbers out of their range are told to nobody", () => {
  const { request } = vectors.find(({ protocol }) => protocol === "mascot").shares[0];
  const { do: _, values, ...share } = request;
  assert.deepEqual(share.range, ["-1000", "1000"]);
  assert.throws(() => client.shareMasked({ ...share, values: [0n, 0n, 0n, 0n, 1001n] }), /outside of its range/);
});
