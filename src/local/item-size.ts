/** An item as the DynamoDB wire protocol writes it: `{name: {S: 'text'}}`. */
export type WireItem = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The bytes that DynamoDB bills an item at: UTF-8 names and values, numbers by their significant digits. */
export function itemBytes(item: WireItem): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(item)) bytes += Buffer.byteLength(name) + valueBytes(value);
  return bytes;
}

const COLLECTION_OVERHEAD = 3;

function valueBytes(value: Readonly<Record<string, unknown>>): number {
  const type = Object.keys(value)[0];
  const content = type === undefined ? undefined : value[type];
  switch (type) {
    case 'S':
      return Buffer.byteLength(content as string);
    case 'B':
      return Buffer.byteLength(content as string, 'base64');
    case 'N':
      return numberBytes(content as string);
    case 'SS':
      return sum(content as string[], (text) => Buffer.byteLength(text));
    case 'BS':
      return sum(content as string[], (text) => Buffer.byteLength(text, 'base64'));
    case 'NS':
      return sum(content as string[], numberBytes);
    case 'L':
      return COLLECTION_OVERHEAD + sum(content as WireItem[string][], (element) => 1 + valueBytes(element));
    case 'M':
      return COLLECTION_OVERHEAD + Object.keys(content as WireItem).length + itemBytes(content as WireItem);
    default:
      return 1;
  }
}

/** One byte for two significant digits and one more, and one for a sign. */
function numberBytes(text: string): number {
  const digits = text
    .replace(/e.*$/i, '')
    .replace(/[-+.]/g, '')
    .replace(/^0+|0+$/g, '').length;
  return 1 + Math.ceil(digits / 2) + (text.startsWith('-') ? 1 : 0);
}

function sum<Element>(elements: readonly Element[], bytes: (element: Element) => number): number {
  return elements.reduce((total, element) => total + bytes(element), 0);
}
