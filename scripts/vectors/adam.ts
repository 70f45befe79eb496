/** Adam for a vector that may seldom be touched: its own count of steps corrects the start. */
export interface Adam {
  step(values: Float32Array, gradient: Float32Array, rate: number): void;
}

const MEAN_MEMORY = 0.9;
const SQUARE_MEMORY = 0.999;

/** The memory of one vector of `length` numbers. */
export function createAdam(length: number): Adam {
  const means = new Float32Array(length);
  const squares = new Float32Array(length);
  let steps = 0;
  return {
    step(values, gradient, rate) {
      steps++;
      const meanScale = 1 / (1 - MEAN_MEMORY ** steps);
      const squareScale = 1 / (1 - SQUARE_MEMORY ** steps);
      for (let index = 0; index < values.length; index++) {
        const slope = gradient[index] ?? 0;
        const mean = MEAN_MEMORY * (means[index] ?? 0) + (1 - MEAN_MEMORY) * slope;
        const square = SQUARE_MEMORY * (squares[index] ?? 0) + (1 - SQUARE_MEMORY) * slope * slope;
        means[index] = mean;
        squares[index] = square;
        const move = (mean * meanScale) / (Math.sqrt(square * squareScale) + 1e-8);
        values[index] = (values[index] ?? 0) - rate * move;
      }
    },
  };
}
