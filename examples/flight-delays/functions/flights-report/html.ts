/** Text as HTML shows it. */
export function text(value: string | number): string {
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** A count with thousands separators. */
export function count(value: number): string {
  return value.toLocaleString('en-US');
}

/** A share as a percentage with one decimal. */
export function share(value: number): string {
  return `${(value * 100).toFixed(1)}%`;
}

/** A month in words: `January 2001`. */
export function monthName(month: string): string {
  return new Date(`${month}-01T00:00:00Z`).toLocaleDateString('en-US', {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
}

/** A day in words: `Friday, March 16`. */
export function dayName(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString('en-US', {
    weekday: 'long',
    month: 'long',
    day: 'numeric',
    timeZone: 'UTC',
  });
}

/** A table; the first column heads its row, the others are numbers. */
export function table(
  caption: string,
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const cells = ([first, ...rest]: readonly (string | number)[]) =>
    `<tr><th scope="row">${text(first ?? '')}</th>${rest.map((cell) => `<td>${text(cell)}</td>`).join('')}</tr>`;
  return `<div class="scroll"><table><caption>${text(caption)}</caption><thead><tr>${head
    .map((title) => `<th scope="col">${text(title)}</th>`)
    .join('')}</tr></thead><tbody>${rows.map(cells).join('')}</tbody></table></div>`;
}

/** A section with a finding as its heading, a chart, and its numbers behind a click. */
export function section(parts: { finding: string; lead: string; chart: string; numbers: string }): string {
  return `<section><h2>${text(parts.finding)}</h2><p>${text(parts.lead)}</p>
<figure class="scroll">${parts.chart}</figure>
<details><summary>The numbers</summary>${parts.numbers}</details></section>`;
}
