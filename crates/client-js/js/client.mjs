// A client's half of Tacit's protocols in JavaScript: what Rust computes, without I/O. Whoever uses it moves the messages.
//
//     const client = await Client.load(await readFile("tacit_client.wasm"));
//     const [message] = client.share({ input: 0, seeds, lane: 0, of: "ring64", values: [17n, -4n] });
//     const values = client.open({ of: "ring64", count: 2, parts });
//
// Values are BigInts. Bytes are hexadecimal digits.

export class Client {
  #exports;

  constructor(exports) {
    this.#exports = exports;
  }

  /** From the bytes of tacit_client.wasm. */
  static async load(bytes) {
    const { instance } = await WebAssembly.instantiate(bytes, {});
    return new Client(instance.exports);
  }

  /** The messages of an input, for the two parties that hold the third component. Seeds are for one session, an input goes once. */
  share({ values, ...request }) {
    return this.#ask({ do: "share", ...request, values: values.map(String) }).messages;
  }

  /** The messages of an input, for the first of parties whose shares add up. */
  shareAdditive({ values, ...request }) {
    return this.#ask({ do: "share-additive", ...request, values: values.map(String) }).messages;
  }

  /**
   * The messages of an input under a mask, for all parties alike; parts are what each party sent of the mask. `range` is
   * [low, high] of numbers that the plan has shown to be in it. Throws if the mask isn't one: then nothing is to be sent.
   */
  shareMasked({ values, range, ...request }) {
    const ends = range && { range: range.map(String) };
    return this.#ask({ do: "share-masked", ...request, ...ends, values: values.map(String) }).messages;
  }

  /**
   * The values of an output, without sign. Throws if what confirms it doesn't fit, or, where `alone` says whether nobody else
   * learns it, if a party says something else than others.
   */
  open(request) {
    const how = request.confirmations ? "open-confirmed" : request.alone === undefined ? "open" : "open-checked";
    return this.#ask({ do: how, ...request }).values.map(BigInt);
  }

  /** What comes of a request, as text is to text. */
  call(request) {
    const { room, call, answer, memory } = this.#exports;
    const text = new TextEncoder().encode(JSON.stringify(request));
    const start = room(text.length);
    new Uint8Array(memory.buffer, start, text.length).set(text);
    const length = call(text.length);
    return JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, answer(), length)));
  }

  #ask(request) {
    const answer = this.call(request);
    if (answer.error !== undefined) {
      throw new Error(answer.error);
    }
    return answer;
  }
}

/** Numbers with a sign, of so many bits. */
export const signed = (values, bits) => values.map((value) => BigInt.asIntN(bits, value));

/** The modulus of "prime128". */
export const PRIME_128 = 2n ** 128n - 159n;

/** Numbers with a sign, modulo an odd number. */
export const signedModulo = (values, modulus) => values.map((value) => (value > modulus / 2n ? value - modulus : value));
