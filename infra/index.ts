/** Millrace in a CDK app: `import { Millrace } from 'millrace/cdk'`. */
export type { AlarmOptions } from './constructs/alarms.ts';
export type { EngineMachine, EngineSettings } from './constructs/engine-settings.ts';
export type { EventFilter } from './constructs/event-filter.ts';
export type { HttpEngineOptions } from './constructs/http-engine.ts';
export { Millrace } from './constructs/millrace.ts';
export type { FunctionMetrics, MillraceMetrics } from './constructs/millrace-metrics.ts';
export type { MillraceProps } from './constructs/millrace-props.ts';
export type { NodeFunction } from './constructs/node-function.ts';
export type { Pipeline, PipelineOptions, PipelineSource } from './constructs/pipeline.ts';
export type { StateMachineEngine, StateMachineEngineOptions } from './constructs/state-machine-engine.ts';
export { SynthesisError, type SynthesisErrorCode } from './constructs/synthesis-error.ts';
export type { Trigger, TriggerOptions } from './constructs/trigger.ts';
export type { Webhook } from './constructs/webhook.ts';
export type { WebhookEvent, WebhookOptions } from './constructs/webhook-settings.ts';
export { MillraceStack, type MillraceStackProps } from './stacks/millrace-stack.ts';
