/** What a node uses by each lane: today's counters, and what the lane takes away and adds. */

/** What is billed, of one node. Work is apart: it is the same by every lane. */
export interface Units {
  readonly writeUnits: number;
  readonly readUnits: number;
  /** Of Standard executions. */
  readonly transitions: number;
  readonly expressRequests: number;
  readonly expressGigabyteMs: number;
  /** Invocations of what is not the node's own function. */
  readonly lambdaRequests: number;
  readonly lambdaGigabyteMs: number;
  readonly events: number;
  readonly queueRequests: number;
  readonly durableOperations: number;
  readonly durableBytes: number;
  readonly logBytes: number;
}

/** What today's lane was counted at, per node. Values: `npm run bench -- --only chain-50 fan-200 --json`. */
export interface Counters {
  readonly writeUnits: number;
  readonly readUnits: number;
  readonly schedulerInvocations: number;
  /** Of api and others. */
  readonly otherInvocations: number;
  readonly events: number;
  readonly queueRequests: number;
}

/** A DAG that lanes are compared on. */
export interface Shape {
  readonly name: string;
  readonly counters: Counters;
  /** Nodes that are ready at the same time, so that they may go into one execution. */
  readonly width: number;
  /** Nodes that follow one another with nothing else between them. */
  readonly length: number;
}

/** The node. */
export interface Work {
  readonly ms: number;
  readonly memoryMb: number;
}

/** What is not counted but taken as given; all of it can be changed on the command line. */
export interface Givens {
  /** Most ready nodes in one execution, message or invocation. */
  readonly parcel: number;
  /** Most nodes of a line in one execution. */
  readonly stretch: number;
  /** An invocation of the scheduler on AWS (ms): four calls one after the other, and 10 ms of its own. */
  readonly passMs: number;
  /** What each start adds to it (ms): a call of 15 ms, ten at a time. */
  readonly startMs: number;
  readonly schedulerMb: number;
  /** What a lane of its own takes around the function (ms): claim, invoke, put, tell. */
  readonly aroundMs: number;
  /** A function that only waits for others (MB). */
  readonly runnerMb: number;
  /** Bytes of an output. */
  readonly outputBytes: number;
  /** Lines of a pass with those that Lambda writes about its invocation. */
  readonly passLogBytes: number;
}

/** See {@link Givens}. */
export const GIVENS: Givens = {
  parcel: 10,
  stretch: 50,
  passMs: 50,
  startMs: 1.5,
  schedulerMb: 512,
  aroundMs: 40,
  runnerMb: 128,
  outputBytes: 500,
  passLogBytes: 900,
};

/** Counted on 2026-11-30, 20:05, at commit 9c070e6. */
export const SHAPES: readonly Shape[] = [
  {
    name: 'chain-50',
    counters: {
      writeUnits: 2.26,
      readUnits: 1.08,
      schedulerInvocations: 1.02,
      otherInvocations: 0.02,
      events: 0.04,
      queueRequests: 3.06,
    },
    width: 1,
    length: 50,
  },
  {
    name: 'fan-200',
    counters: {
      writeUnits: 1.2,
      readUnits: 0.16,
      schedulerInvocations: 0.12,
      otherInvocations: 0.01,
      events: 0.01,
      queueRequests: 1.25,
    },
    width: 200,
    length: 1,
  },
];

/** A way for attempts to run. */
export interface Lane {
  readonly name: string;
  unitsOf(shape: Shape, work: Work, givens: Givens): Units;
}

/** Step Functions Express bills 64 MB at least, in steps of 100 ms. https://aws.amazon.com/step-functions/pricing/ */
const EXPRESS_GB = 64 / 1024;
const EXPRESS_STEP_MS = 100;
/** The longest stretch, with some room. */
const EXPRESS_LONGEST_MS = 270_000;

/**
 * What every lane of Millrace has: passes, their commits, results, messages. With `every` less than 1, only each
 * so-manieth node brings a message and a pass of its own.
 */
function base({ counters }: Shape, givens: Givens, every = 1): Units {
  const invocations = counters.schedulerInvocations * every;
  // Where nodes share a pass, they share its commit; each keeps a result of its own.
  const commits = Math.max(0, Math.min(1, counters.writeUnits - 1)) * (1 - every);
  return {
    writeUnits: counters.writeUnits - commits,
    readUnits: counters.readUnits * every,
    transitions: 0,
    expressRequests: 0,
    expressGigabyteMs: 0,
    lambdaRequests: invocations + counters.otherInvocations,
    lambdaGigabyteMs: ((invocations * givens.passMs + givens.startMs) * givens.schedulerMb) / 1024,
    events: counters.events,
    queueRequests: counters.queueRequests * every,
    durableOperations: 0,
    durableBytes: 0,
    logBytes: invocations * givens.passLogBytes,
  };
}

function plus(units: Units, more: Partial<Units>): Units {
  const sum = Object.entries(units).map(([what, amount]) => [what, amount + (more[what as keyof Units] ?? 0)]);
  return Object.fromEntries(sum) as unknown as Units;
}

function expressGigabyteMs(ms: number): number {
  return Math.ceil(ms / EXPRESS_STEP_MS) * EXPRESS_STEP_MS * EXPRESS_GB;
}

/** Nodes in one parcel, and in one stretch. */
const parcelOf = ({ width }: Shape, { parcel }: Givens) => Math.min(width, parcel);
const stretchOf = ({ length }: Shape, { stretch }: Givens) => Math.min(length, stretch);
/** An Express execution takes five minutes at most. */
const expressStretchOf = (shape: Shape, { ms }: Work, givens: Givens) =>
  Math.max(1, Math.min(stretchOf(shape, givens), Math.floor(EXPRESS_LONGEST_MS / (ms + givens.aroundMs))));

/** Waits for `nodes` functions at once, or one after the other. */
function runner({ ms }: Work, { aroundMs, runnerMb }: Givens, nodes: number): Partial<Units> {
  return { lambdaRequests: 1 / nodes, lambdaGigabyteMs: ((ms + aroundMs) * (runnerMb / 1024)) / nodes };
}

/** The lanes, today's first. */
export const LANES: readonly Lane[] = [
  {
    name: '0  Standard, one execution an attempt (today)',
    unitsOf: (shape, _, givens) => plus(base(shape, givens), { transitions: 1 }),
  },
  {
    name: '1  Express with a claim, one an attempt (the spike)',
    unitsOf: (shape, { ms }, givens) =>
      plus(base(shape, givens), {
        writeUnits: 1,
        expressRequests: 1,
        expressGigabyteMs: expressGigabyteMs(ms + givens.aroundMs),
      }),
  },
  {
    name: '1p Express with a claim, parcels of ready nodes',
    unitsOf: (shape, { ms }, givens) => {
      const nodes = parcelOf(shape, givens);
      const gigabyteMs = expressGigabyteMs(ms + givens.aroundMs) / nodes;
      return plus(base(shape, givens), {
        writeUnits: 1 / nodes,
        expressRequests: 1 / nodes,
        expressGigabyteMs: gigabyteMs,
      });
    },
  },
  {
    name: '2m Standard, ready nodes in an inline Map',
    unitsOf: (shape, _, givens) => {
      const nodes = parcelOf(shape, givens);
      return plus(base(shape, givens, 1 / nodes), { transitions: nodes === 1 ? 1 : 1 + 1 / nodes });
    },
  },
  {
    name: '2r Standard, ready nodes by one runner function',
    unitsOf: (shape, work, givens) => {
      const nodes = parcelOf(shape, givens);
      return plus(plus(base(shape, givens, 1 / nodes), { transitions: 1 / nodes }), runner(work, givens, nodes));
    },
  },
  {
    name: '3s Standard, a stretch of a line, a state a node',
    unitsOf: (shape, _, givens) => plus(base(shape, givens, 1 / stretchOf(shape, givens)), { transitions: 1 }),
  },
  {
    name: '3e Express, a stretch of a line, claims a node',
    unitsOf: (shape, work, givens) => {
      const nodes = expressStretchOf(shape, work, givens);
      const gigabyteMs = expressGigabyteMs((work.ms + givens.aroundMs) * nodes) / nodes;
      return plus(base(shape, givens, 1 / nodes), {
        writeUnits: 1,
        expressRequests: 1 / nodes,
        expressGigabyteMs: gigabyteMs,
      });
    },
  },
  {
    name: '4d asynchronous Lambda, destinations, no claim',
    unitsOf: (shape, _, givens) => base(shape, givens),
  },
  {
    name: '4w asynchronous Lambda, claim and result by our library',
    unitsOf: (shape, { memoryMb }, givens) =>
      plus(base(shape, givens), { writeUnits: 1, lambdaGigabyteMs: (givens.aroundMs * memoryMb) / 1024 }),
  },
  {
    name: '4q queue and runner function, claims a parcel',
    unitsOf: (shape, work, givens) => {
      const nodes = parcelOf(shape, givens);
      return plus(
        plus(base(shape, givens), { writeUnits: 1 / nodes, queueRequests: 3 / nodes }),
        runner(work, givens, nodes),
      );
    },
  },
  {
    name: '4p the pass itself invokes and waits',
    unitsOf: (shape, { ms }, givens) => {
      const every = 1 / Math.max(parcelOf(shape, givens), stretchOf(shape, givens));
      const waiting = (ms * givens.schedulerMb) / 1024 / parcelOf(shape, givens);
      const units = base(shape, givens, every);
      return plus({ ...units, writeUnits: shape.counters.writeUnits }, { lambdaGigabyteMs: waiting });
    },
  },
  {
    name: '5  Lambda durable functions, a step a node',
    unitsOf: (shape, _, givens) => {
      const nodes = Math.max(shape.width, shape.length);
      return {
        ...plus(base(shape, givens, 0), {}),
        writeUnits: 0,
        lambdaRequests: 1 / nodes,
        lambdaGigabyteMs: 0,
        events: 0,
        durableOperations: 1 + 1 / nodes,
        durableBytes: givens.outputBytes,
      };
    },
  },
];
