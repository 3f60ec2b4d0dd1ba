import { type ErrorList, quoted } from '#domain/definition-errors.ts';
import type { PathSegment } from '#domain/definition-path.ts';
import type { WfcommonsDocument } from './wfcommons-schema.ts';

/** Where a WfFormat document keeps its tasks and what each of them took. */
export const TASKS = ['workflow', 'specification', 'tasks'] as const;
const RECORDS = ['workflow', 'execution', 'tasks'] as const;

type Task = WfcommonsDocument['workflow']['specification']['tasks'][number];

/** Checks that every edge is written at both of its ends, and that no task depends on one that is not there. */
export function checkEdges(tasks: readonly Task[], errors: ErrorList): void {
  const byId = new Map(tasks.map((task, position) => [task.id, { task, position }]));
  const children = new Map(tasks.map((task) => [task.id, new Set(task.children)]));
  const parents = new Map(tasks.map((task) => [task.id, new Set(task.parents)]));
  for (const [position, task] of tasks.entries()) {
    for (const [entry, parent] of task.parents.entries()) {
      if (children.get(parent)?.has(task.id)) continue;
      const at = [...TASKS, position, 'parents', entry];
      const other = byId.get(parent);
      if (other === undefined) reportUnknown(task.id, 'parent', parent, at, errors);
      else reportOneSided({ task: task.id, role: 'parent', other: parent, missing: 'child' }, at, errors);
    }
    for (const [entry, child] of task.children.entries()) {
      if (parents.get(child)?.has(task.id)) continue;
      const at = [...TASKS, position, 'children', entry];
      if (byId.has(child))
        reportOneSided({ task: task.id, role: 'child', other: child, missing: 'parent' }, at, errors);
      else reportUnknown(task.id, 'child', child, at, errors);
    }
  }
}

interface OneSided {
  readonly task: string;
  readonly role: 'parent' | 'child';
  readonly other: string;
  readonly missing: 'parent' | 'child';
}

function reportOneSided({ task, role, other, missing }: OneSided, at: readonly PathSegment[], errors: ErrorList): void {
  const message = `task ${quoted(task)} has ${quoted(other)} as its ${role}, but ${quoted(other)} does not have ${quoted(task)} as its ${missing}`;
  errors.add({ at, code: 'EDGE_MISMATCH', message, value: other, allowed: 'each edge at both of its tasks' });
}

function reportUnknown(task: string, role: string, id: string, at: readonly PathSegment[], errors: ErrorList): void {
  const message = `task ${quoted(task)} has ${quoted(id)} as its ${role}, which is no task of this workflow`;
  errors.add({ at, code: 'UNKNOWN_DEPENDENCY', message, value: id, allowed: 'the id of a task' });
}

/** Gives the recorded run time of each task, in seconds, and checks that there is exactly one for each. */
export function runtimesOf({ workflow }: WfcommonsDocument, errors: ErrorList): Map<string, number> {
  const { tasks } = workflow.specification;
  const ids = new Set(tasks.map(({ id }) => id));
  const runtimes = new Map<string, number>();
  for (const [position, { id, runtimeInSeconds }] of workflow.execution.tasks.entries()) {
    const at = [...RECORDS, position, 'id'];
    if (!ids.has(id)) {
      const message = `there is a run time for ${quoted(id)}, which is no task of this workflow`;
      errors.add({ at, code: 'UNKNOWN_TASK', message, value: id, allowed: 'the id of a task' });
    } else if (runtimes.has(id)) {
      const message = `there are two run times for task ${quoted(id)}`;
      errors.add({ at, code: 'DUPLICATE_RUNTIME', message, value: id, allowed: 'one run time for each task' });
    }
    runtimes.set(id, runtimeInSeconds);
  }
  for (const [position, { id }] of tasks.entries()) {
    if (runtimes.has(id)) continue;
    const message = `task ${quoted(id)} has no run time under ${RECORDS.join('.')}`;
    errors.add({ at: [...TASKS, position, 'id'], code: 'MISSING_RUNTIME', message, value: id });
  }
  return runtimes;
}
