import { type Engine, numberOf } from './engines/engine.ts';

/** A measured time is good for so long: clocks run apart by a little. */
const FRESH_MS = 30_000;
/** The machine slept, or its clock was set, where its two clocks differ by more since the last measurement. */
const MOST_APART_MS = 1000;

/** An engine, and the time by which what it keeps is over. */
interface TimedEngine {
  readonly engine: Engine;
  now(): number;
}

/**
 * The time of a database that several machines share: one whose clock is wrong must not end what others keep there. It is
 * measured from time to time, and counted on by the steady clock of this machine. A database of this machine alone goes by
 * the time of the machine.
 */
export async function timedEngine(engine: Engine): Promise<TimedEngine> {
  if (engine.name !== 'postgres') return { engine, now: Date.now };
  let last = await measure(engine);
  let measuring: Promise<void> | undefined;
  const measureAgain = async (): Promise<void> => {
    last = await measure(engine).catch(() => last); // who asks the database for more is told that it is gone
    measuring = undefined;
  };
  // Who decides reads first: after that the time is right, also where the machine has slept.
  const whenMeasured = async <T>(asked: Promise<T>): Promise<T> => {
    const answer = await asked;
    await measuring;
    return answer;
  };
  return {
    engine: {
      ...engine,
      read: (statement) => whenMeasured(engine.read(statement)),
      write: (statements, survives) => whenMeasured(engine.write(statements, survives)),
    },
    now() {
      const passedMs = performance.now() - last.steady;
      const apartMs = Math.abs(Date.now() - last.wall - passedMs);
      if (passedMs > FRESH_MS || apartMs > MOST_APART_MS) measuring ??= measureAgain();
      return Math.round(last.at + passedMs);
    },
  };
}

/** One moment by three clocks. */
interface Moment {
  /** Of the database. */
  readonly at: number;
  readonly steady: number;
  readonly wall: number;
}

async function measure(engine: Engine): Promise<Moment> {
  const [row = {}] = await engine.read({ sql: `SELECT ${engine.dialect.nowMs} AS at`, params: [] });
  return { at: numberOf(row, 'at'), steady: performance.now(), wall: Date.now() };
}
