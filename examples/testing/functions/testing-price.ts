import { defineFunction } from 'millrace/function';
import { z } from 'zod';

const PRICES = new Map([
  ['lamp', 40],
  ['desk', 100],
]);

const line = z.object({ article: z.string(), count: z.int().min(1) });

class UnknownArticle extends Error {}

/** What a line of an order costs. */
export const handler = defineFunction((payload: unknown) => {
  const { article, count } = line.parse(payload);
  const price = PRICES.get(article);
  if (price === undefined) throw new UnknownArticle(`there is no price of ${article}`);
  return price * count;
});
