import { type Bundle, bundleFunctions, type Companion } from './bundle.ts';
import { PAYLOAD_STORE } from './function-library.ts';
import { PROJECT, sourceFile } from './project.ts';
import type { OwnFunction } from './settings.ts';

/** The functions that every installation has. */
export type EveryFunction = OwnFunction | 'notifier';

/** Source files of our own functions, by name; each exports `handler`. */
export type OwnEntries = Readonly<Partial<Record<EveryFunction | 'registrar', string>>>;

/** The thread that evaluates expressions; the evaluator starts it from the file beside its own. */
const EVALUATOR_WORKER: Companion = {
  name: 'evaluator-worker',
  file: sourceFile('src/adapters/jsonata/evaluator-worker'),
  beside: ['api', 'scheduler', 'intake'],
};

/** Small, but for all of them; and loaded at once as one file, since each file more takes a millisecond of a cold start. */
const OPTIONS = {
  root: PROJECT,
  minify: true,
  aliases: { '@aws-sdk/credential-provider-node': sourceFile('src/function/environment-credentials') },
};

/** Bundles the functions that every installation has. */
export function bundleOwnFunctions(entries: OwnEntries): Readonly<Record<EveryFunction, Bundle>> {
  const companions = [EVALUATOR_WORKER, { ...PAYLOAD_STORE, isWanted: entries.scheduler === undefined }];
  const others = bundleFunctions(
    (['scheduler', 'intake', 'notifier'] as const).map((name) => entryOf(name, entries)),
    { ...OPTIONS, companions },
  );
  const bundleOf = (name: string) => others.get(name) as Bundle;
  return {
    api: bundleSplit('api', entries, [EVALUATOR_WORKER]),
    scheduler: bundleOf('scheduler'),
    intake: bundleOf('intake'),
    notifier: bundleOf('notifier'),
  };
}

/** Bundles the function that CloudFormation calls, which not every installation has. */
export function bundleRegistrar(entries: OwnEntries): Bundle {
  return bundleSplit('registrar', entries);
}

/** A function that has several things to do; most of its calls need neither YAML nor logs. */
function bundleSplit(name: EveryFunction | 'registrar', entries: OwnEntries, companions: readonly Companion[] = []) {
  return bundleFunctions([entryOf(name, entries)], { ...OPTIONS, split: true, companions }).get(name) as Bundle;
}

function entryOf(name: EveryFunction | 'registrar', entries: OwnEntries) {
  return { name, file: entries[name] ?? sourceFile(`functions/${name}/index`) };
}
