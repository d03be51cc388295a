// From bytes to weights. A block is unpacked no further than its header says it should be.

/** Unpacks gzip bytes to exactly `size` bytes; throws an Error where they are damaged or hold more or less. */
async function inflate(bytes, size) {
  const out = new Uint8Array(size);
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  let filled = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (filled + value.length > size) {
        await reader.cancel();
        throw new Error("it holds more than its header says");
      }
      out.set(value, filled);
      filled += value.length;
    }
  } catch (error) {
    throw new Error(`a block of attention is damaged: ${error.message}`);
  }
  if (filled !== size) throw new Error("a block of attention is damaged: it holds less than its header says");
  return out;
}

function halfToFloat(half) {
  const exponent = (half >> 10) & 31;
  const fraction = half & 1023;
  const size = exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15);
  return half & 32768 ? -size : size;
}

/** Weights (L, H, T, S) of the bytes of their roots, which lie column by column. */
function weightsOf(bytes, [layers, heads, rows, columns]) {
  const weights = new Float32Array(bytes.length);
  let from = 0;
  for (let map = 0; map < layers * heads; map++) {
    for (let j = 0; j < columns; j++) {
      for (let i = 0; i < rows; i++) weights[(map * rows + i) * columns + j] = (bytes[from++] / 255) ** 2;
    }
  }
  return weights;
}

async function unpackBlock(bytes, dtype, shape) {
  const count = shape.reduce((product, size) => product * size, 1);
  const data = await inflate(bytes, dtype === "float16" ? 2 * count : count);
  if (dtype === "uint8") return weightsOf(data, shape);
  const view = new DataView(data.buffer);
  return Float32Array.from({ length: count }, (_, i) => halfToFloat(view.getUint16(2 * i, true)));
}

/** One sentence at one step. `load(i)` fetches the i-th block's bytes; blocks are fetched when they are looked at. */
export class AttentionRecord {
  constructor(header, load) {
    this.header = header;
    this.load = load;
    this.waiting = new Map();
  }

  /** The kind of attention of a name: {name, rows, columns, layers, shape [L, H, T, S], tokens, weights, worth}. */
  async kind(name) {
    const entry = this.header.kinds.find((kind) => kind.name === name);
    if (!entry) throw new Error(`there is no attention of the kind ${name}`);
    const { tokens, occlusion } = this.header;
    const weights = await this.block(name, "weights");
    const worth = name === "cross" && occlusion ? occlusion : null;
    return { ...entry, rowTokens: tokens[entry.rows], columnTokens: tokens[entry.columns], weights, worth };
  }

  /** Queries and keys of a kind, or null: {queries, keys, width}. */
  async vectors(name) {
    const block = this.header.blocks.find(([kind, which]) => kind === name && which === "queries");
    if (!block) return null;
    const [queries, keys] = await Promise.all(["queries", "keys"].map((which) => this.block(name, which)));
    return { queries, keys, width: block[3][3] };
  }

  block(name, which) {
    const index = this.header.blocks.findIndex(([kind, other]) => kind === name && other === which);
    if (!this.waiting.has(index)) {
      const [, , dtype, shape] = this.header.blocks[index];
      this.waiting.set(index, this.load(index).then((bytes) => unpackBlock(bytes, dtype, shape)));
    }
    return this.waiting.get(index);
  }
}
