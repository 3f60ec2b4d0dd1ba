/** What tests of pipelines import: `import { testPipeline } from 'millrace/testing'`. */
export { InvalidDefinitionError } from '#authoring/invalid-definition-error.ts';
export type { ApprovalQuestion, ApprovalReplies, ApprovalReply } from './approval-answers.ts';
export type { FaultKinds, FaultOptions } from './fault-options.ts';
export { MissingStubError } from './needed-stubs.ts';
export type { Outcome, TestedNode } from './outcome.ts';
export type { TestedDefinition } from './read-definition.ts';
export type { StubCall } from './stub-calls.ts';
export {
  fails,
  hang,
  type LaterAnswer,
  later,
  type Stub,
  type StubContext,
  type StubFunction,
  UNREGISTERED,
} from './stubs.ts';
export { FaultWorldError, type StubsByName, type TestOptions, testPipeline } from './test-pipeline.ts';
export { StartRefusedError } from './test-world.ts';
export type { UserAct } from './user-acts.ts';
