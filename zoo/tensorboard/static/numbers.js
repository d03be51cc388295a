// What is worked out from weights: means, rollout, what is left without special tokens, differences.

const SPECIAL = new Set(["<pad>", "<s>", "</s>", "<unk>", "[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]", "<bos>", "<eos>"]);

/** Whether a token is no part of the text. */
export function isSpecial(token) {
  return SPECIAL.has(token);
}

/** One head's weights: {rows, columns, data}. */
export function headMatrix(kind, layer, head) {
  const [, heads, rows, columns] = kind.shape;
  const start = (layer * heads + head) * rows * columns;
  return { rows, columns, data: kind.weights.subarray(start, start + rows * columns) };
}

function meanOf(matrices) {
  const { rows, columns } = matrices[0];
  const data = new Float32Array(rows * columns);
  for (const matrix of matrices) for (let i = 0; i < data.length; i++) data[i] += matrix.data[i] / matrices.length;
  return { rows, columns, data };
}

/** The mean over heads of a layer. */
export function layerMean(kind, layer) {
  return meanOf(Array.from({ length: kind.shape[1] }, (_, head) => headMatrix(kind, layer, head)));
}

/** The mean over all heads of all layers. */
export function wholeMean(kind) {
  return meanOf(Array.from({ length: kind.shape[0] }, (_, layer) => layerMean(kind, layer)));
}

/** Rollout of self-attention up to a layer (Abnar and Zuidema 2020): residual connections are half of each layer. */
export function rolledOut(kind, layer) {
  const size = kind.shape[2];
  let rolled = Float32Array.from({ length: size * size }, (_, i) => Number(i % (size + 1) === 0));
  for (let l = 0; l <= layer; l++) {
    const step = layerMean(kind, l).data;
    const next = new Float32Array(size * size);
    for (let i = 0; i < size; i++) {
      let sum = 0;
      for (let k = 0; k < size; k++) sum += 0.5 * step[i * size + k] + 0.5 * (i === k);
      for (let k = 0; k < size; k++) {
        const weight = (0.5 * step[i * size + k] + 0.5 * (i === k)) / sum;
        if (weight) for (let j = 0; j < size; j++) next[i * size + j] += weight * rolled[k * size + j];
      }
    }
    rolled = next;
  }
  return { rows: size, columns: size, data: rolled };
}

/** A matrix cut to some rows and columns; rows are scaled to sum over the columns `kept` to what they summed to in all. */
export function cutMatrix(matrix, rows, columns, kept = null) {
  const data = new Float32Array(rows.length * columns.length);
  rows.forEach((row, i) => {
    const whole = matrix.data.subarray(row * matrix.columns, (row + 1) * matrix.columns);
    const sum = kept ? kept.reduce((total, column) => total + whole[column], 0) : 0;
    const factor = sum > 0 ? whole.reduce((total, weight) => total + weight, 0) / sum : 1;
    columns.forEach((column, j) => (data[i * columns.length + j] = whole[column] * factor));
  });
  return { rows: rows.length, columns: columns.length, data, signed: matrix.signed };
}

/** b - a. */
export function differenceOf(a, b) {
  return { rows: a.rows, columns: a.columns, data: b.data.map((value, i) => value - a.data[i]), signed: true };
}

/** Numbers of a matrix, as the writer works them out from floats: [entropy, sharpness, distance, first]. */
export function headNumbers(matrix) {
  const { rows, columns, data } = matrix;
  const sums = [0, 0, 0, 0];
  let alive = 0;
  for (let i = 0; i < rows; i++) {
    let total = 0;
    for (let j = 0; j < columns; j++) total += data[i * columns + j];
    if (!(total > 0)) continue;
    alive += 1;
    const diagonal = (i * (columns - 1)) / Math.max(rows - 1, 1);
    let largest = 0;
    for (let j = 0; j < columns; j++) {
      const weight = data[i * columns + j] / total;
      if (weight > 0) sums[0] -= weight * Math.log(weight);
      largest = Math.max(largest, weight);
      sums[2] += weight * Math.abs(j - diagonal);
    }
    sums[1] += largest;
    sums[3] += data[i * columns] / total;
  }
  return sums.map((sum) => sum / Math.max(alive, 1));
}

/** The place of the step nearest to one. */
export function nearest(steps, step) {
  let best = 0;
  steps.forEach((other, i) => {
    if (Math.abs(other - step) < Math.abs(steps[best] - step)) best = i;
  });
  return best;
}

/** A head's number at a step, as the writer worked it out from floats, or null. */
export function written(stats, kind, metric, layer, head, step) {
  const [k, m, at] = [stats.kinds.indexOf(kind.name), stats.metrics.indexOf(metric), stats.steps.indexOf(step)];
  return k < 0 || m < 0 || at < 0 ? null : (stats.values[at][k]?.[layer]?.[head]?.[m] ?? null);
}

/** The head nearest to the gold alignment at a step, in either reading: {layer, head, error}, or null. */
export function bestHead(stats, kind, step) {
  let best = null;
  for (let layer = 0; layer < kind.shape[0]; layer++) {
    for (let head = 0; head < kind.shape[1]; head++) {
      for (const metric of ["aer", "aer_read"]) {
        const error = written(stats, kind, metric, layer, head, step);
        if (error !== null && (best === null || error < best.error)) best = { layer, head, error };
      }
    }
  }
  return best;
}
