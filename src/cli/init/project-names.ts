import { basename } from 'node:path';
import { DEV_DEPENDENCIES } from './package-file.ts';

/** What a new project calls things. */
export interface ProjectNames {
  /** Name of its npm package. */
  readonly project: string;
  /** Name of its installation, with which the names of its functions begin: two projects may be in one account. */
  readonly installation: string;
}

const MAX_INSTALLATION = 20;

/** Makes the names of a project from the folder that it is in. */
export function projectNames(projectDir: string): ProjectNames {
  const name = basename(projectDir)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^[-0-9]+|-+$/g, '');
  const installation = name.replaceAll('-', '').slice(0, MAX_INSTALLATION);
  const isTaken = name === 'millrace' || Object.hasOwn(DEV_DEPENDENCIES, name);
  return {
    project: name === '' ? 'pipelines' : `${name}${isTaken ? '-project' : ''}`,
    installation: installation === '' ? 'pipelines' : installation,
  };
}
