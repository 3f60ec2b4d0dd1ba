import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePipeline } from '#domain/graph.ts';
import { headDueAt, nextInstants } from '#domain/pipeline-due.ts';
import { HEAD_SCHEMA_VERSION, type PipelineHead } from '#domain/pipeline-head.ts';
import {
  DamagedPipelineError,
  NewerPipelineError,
  packHead,
  readableHead,
  unpackHead,
} from '#domain/pipeline-head-codec.ts';
import { carryCursors } from '#domain/schedule-cursor.ts';

const MINUTE = 60_000;
const NOW = Date.UTC(2026, 10, 30, 12);
const NODES = [{ id: 'a', params: { function: 'f' } }];

const pipeline = compilePipeline(
  {
    name: 'etl',
    schedule: [
      { id: 'hourly', cron: '30 * * * *' },
      { id: 'often', rate: '7 minutes' },
    ],
    nodes: NODES,
  },
  'rev1',
);
const head: PipelineHead = {
  name: 'etl',
  incarnation: 'abcdefgh',
  revision: 'rev1',
  version: 1,
  createdAt: NOW,
  updatedAt: NOW,
  cursors: [...carryCursors(pipeline.schedule, new Map(), NOW + 10_000)],
};

describe('the due time of a head', () => {
  it('is the tick of its next instant, or the next tick where something is left to do', () => {
    expect(nextInstants(head, pipeline).map(({ entry }) => entry.id)).toEqual(['often', 'hourly']);
    expect(headDueAt(head, pipeline, NOW, MINUTE)).toBe(NOW + 7 * MINUTE);
    expect(headDueAt({ ...head, tells: true }, pipeline, NOW, MINUTE)).toBe(NOW + MINUTE);
    expect(headDueAt({ ...head, deleting: { at: NOW } }, pipeline, NOW, MINUTE)).toBe(NOW + MINUTE);
  });

  it('is none while it is paused, or where there is no schedule', () => {
    expect(headDueAt({ ...head, paused: { at: NOW } }, pipeline, NOW, MINUTE)).toBeUndefined();
    expect(headDueAt(head, { schedule: [] }, NOW, MINUTE)).toBeUndefined();
  });
});

describe('a stored head', () => {
  it('is read as it was written', () => {
    expect(unpackHead(packHead(head))).toEqual(head);
  });

  it('of another kind is damaged, one of newer code is left alone, and lists leave out both', () => {
    const packed = packHead(head);
    expect(() => unpackHead({ ...packed, schemaVersion: HEAD_SCHEMA_VERSION + 1 })).toThrow(NewerPipelineError);
    expect(() => unpackHead({ ...packed, body: packed.body.slice(1) })).toThrow(DamagedPipelineError);
    expect(readableHead(() => unpackHead({ ...packed, body: '{}' }))).toBeUndefined();
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(() => unpackHead({ ...packed, body: JSON.stringify(value) })).toThrow(DamagedPipelineError);
      }),
    );
  });
});
