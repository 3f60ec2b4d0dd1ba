import { fails, hang, later, type StubContext, testPipeline } from 'millrace/testing';
import { expect, it } from 'vitest';
import 'millrace/testing/vitest';
import { handler as bill } from './functions/testing-bill.ts';
import { handler as price } from './functions/testing-price.ts';

const pipeline = new URL('pipeline.yaml', import.meta.url);
const functions = { 'testing-price': price, 'testing-bill': bill };

const order = (count: number) => ({
  lines: [
    { article: 'lamp', count },
    { article: 'desk', count: 1 },
  ],
});

it('bills a small order without asking', async () => {
  const outcome = await testPipeline(pipeline, { input: order(2), functions });
  expect(outcome).toHaveSucceeded();
  expect(outcome).toHaveNodeStates({ approve: 'SKIPPED', bill: 'SUCCEEDED' });
  expect(outcome.output).toBe(180);
});

it('asks before it bills a large order', async () => {
  const answers = { approve: { approve: false, comment: 'too much', afterMs: 3_600_000 } };
  const outcome = await testPipeline(pipeline, { input: order(50), functions, answers });
  expect(outcome).toHaveFailed('approve', 'Millrace.ApprovalDenied');
  expect(outcome).not.toHaveStarted('bill');
});

it('waits an hour for a busy price list', async () => {
  const busyAtFirst = (payload: unknown, { attempt }: StubContext) => {
    if (attempt === 1) throw Object.assign(new Error('busy'), { name: 'PriceListBusy' });
    return price(payload);
  };
  const outcome = await testPipeline(pipeline, { functions: { ...functions, 'testing-price': busyAtFirst } });
  expect(outcome).toHaveSucceeded();
  expect(outcome).toHaveStarted('price', 4);
  expect(outcome.durationMs).toBeGreaterThanOrEqual(3_600_000);
});

it.each([
  ['that takes too long', later(61_000, 40), 'TIMED_OUT'],
  ['that never answers', hang(), 'TIMED_OUT'],
  ['that knows no such article', fails('UnknownArticle'), 'FAILED'],
])('bills nothing after a price list %s', async (_, list, state) => {
  const outcome = await testPipeline(pipeline, { functions: { ...functions, 'testing-price': list } });
  expect(outcome.starts.map(({ node, item }) => `${node} ${item}`)).toEqual(['price 0', 'price 1']);
  expect(outcome.nodes['price']?.map?.counts).toEqual({ [state]: 2 });
  expect(outcome).not.toHaveStarted('bill');
});

it('comes to the same whatever crashes, is lost or comes twice', async () => {
  const answers = { approve: { approve: true } };
  const outcome = await testPipeline(pipeline, { input: order(50), functions, answers, faults: 'all' });
  expect(outcome.output).toBe(2100);
});
