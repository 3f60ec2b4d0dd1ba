/**
 * What Step Functions lets an account call, and how much of that each of our functions allows itself.
 *
 * The quotas belong to the account: the team's other state machines live on them too. Instances of a function share no
 * memory, so each has a share of its own, and only AWS's throttling tells it of the others (`call-allowance.ts`).
 *
 * - Looks and lists: five instances of the scheduler and two of intake, as many as there can be, and two of the api at once take
 *   three quarters of what AWS refills; the scheduler's sweeps leave a reserve on top. All bursts at once exceed the account's.
 * - Starts: a run is served by one instance at a time for the most part, and a start too many is only asked for again a second
 *   later. So one instance may make half of the account's, and with several it is AWS that says when it is enough.
 * - Stops: users wait for them, so the api has the largest share.
 */

/** Calls of Step Functions that are counted. */
export type CountedCall = 'StartExecution' | 'DescribeExecution' | 'StopExecution' | 'ListExecutions';

/** A token bucket: what it holds when it is full, and what flows in each second. */
export interface CallRate {
  readonly burst: number;
  readonly perSecond: number;
}

/** The functions that call Step Functions. */
export type CallingFunction = 'api' | 'intake' | 'scheduler';

/** What one instance of a function may call. */
export type CallRates = Readonly<Record<CountedCall, CallRate>>;

/** Regions with larger quotas, and the quotas. https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html */
const LARGE_REGIONS: ReadonlySet<string> = new Set(['us-east-1', 'us-west-2', 'eu-west-1']);
const LARGE: CallRates = {
  StartExecution: { burst: 1_300, perSecond: 300 },
  DescribeExecution: { burst: 300, perSecond: 15 },
  StopExecution: { burst: 1_000, perSecond: 200 },
  ListExecutions: { burst: 200, perSecond: 5 },
};
const OTHER: CallRates = {
  StartExecution: { burst: 800, perSecond: 150 },
  DescribeExecution: { burst: 250, perSecond: 10 },
  StopExecution: { burst: 500, perSecond: 25 },
  ListExecutions: { burst: 100, perSecond: 2 },
};

/** Parts of a quota for one instance. */
const SHARES: Readonly<Record<CallingFunction, CallRates>> = {
  api: {
    StartExecution: { burst: 1 / 4, perSecond: 1 / 4 },
    DescribeExecution: { burst: 1 / 4, perSecond: 1 / 10 },
    StopExecution: { burst: 1 / 2, perSecond: 1 / 4 },
    ListExecutions: { burst: 1 / 10, perSecond: 1 / 20 },
  },
  intake: {
    StartExecution: { burst: 1 / 10, perSecond: 1 / 20 },
    DescribeExecution: { burst: 1 / 10, perSecond: 1 / 40 },
    StopExecution: { burst: 1 / 4, perSecond: 1 / 20 },
    ListExecutions: { burst: 1 / 20, perSecond: 1 / 40 },
  },
  scheduler: {
    StartExecution: { burst: 1 / 2, perSecond: 1 / 2 },
    DescribeExecution: { burst: 2 / 5, perSecond: 1 / 10 },
    StopExecution: { burst: 1 / 4, perSecond: 1 / 10 },
    ListExecutions: { burst: 1 / 5, perSecond: 1 / 10 },
  },
};

/**
 * What one instance of a function may call in a region.
 * @param region such as `eu-central-1`; one that is not known has the smaller quotas
 */
export function callRatesOf(caller: CallingFunction, region: string): CallRates {
  const quotas = LARGE_REGIONS.has(region) ? LARGE : OTHER;
  const shares = SHARES[caller];
  const rateOf = (call: CountedCall): CallRate => ({
    burst: Math.floor(quotas[call].burst * shares[call].burst),
    perSecond: quotas[call].perSecond * shares[call].perSecond,
  });
  return {
    StartExecution: rateOf('StartExecution'),
    DescribeExecution: rateOf('DescribeExecution'),
    StopExecution: rateOf('StopExecution'),
    ListExecutions: rateOf('ListExecutions'),
  };
}
