/**
 * Tells limits what runs have to say, those of one invocation together: while one pass over a limit goes on, whatever else
 * its process has to tell that limit gathers, and then goes by one pass. Passes of one process would else only take each
 * other's commits away. Nobody joins a pass that has begun: it may have read the rows before theirs was put.
 */
import type { PassDeps } from './deps.ts';
import { type LimitInput, type LimitPassed, runLimitPass } from './limit-pass.ts';

/** What one run tells a limit. */
export type LimitTelling = Required<Pick<LimitInput, 'reports'>> & Pick<LimitInput, 'selves' | 'slots'>;

/** Tells limits, in the order of the askers. */
export interface LimitTellings {
  /**
   * Tells a limit; gives it as it is afterwards, or nothing where there is no such limit.
   * @throws whatever the pass over the limit throws, to all that it was for
   */
  tell(deps: PassDeps, limit: string, telling: LimitTelling): Promise<LimitPassed | undefined>;
}

/** Makes what one invocation tells by. */
export function createLimitTellings(): LimitTellings {
  const gathered = new Map<
    string,
    { readonly tellings: LimitTelling[]; readonly passed: Promise<LimitPassed | undefined> }
  >();
  const last = new Map<string, Promise<unknown>>();

  return {
    tell(deps, limit, telling) {
      const known = gathered.get(limit);
      if (known) {
        known.tellings.push(telling);
        return known.passed;
      }
      const tellings = [telling];
      const begin = () => {
        gathered.delete(limit);
        return runLimitPass(deps, limit, together(tellings));
      };
      const before = last.get(limit) ?? Promise.resolve();
      const passed = before.then(begin, begin);
      gathered.set(limit, { tellings, passed });
      last.set(limit, passed);
      return passed;
    },
  };
}

function together(tellings: readonly LimitTelling[]): LimitInput {
  const slots = tellings.find((telling) => telling.slots !== undefined)?.slots;
  return {
    reports: tellings.flatMap(({ reports }) => reports),
    selves: tellings.flatMap(({ selves = [] }) => selves),
    ...(slots !== undefined && { slots }),
  };
}
