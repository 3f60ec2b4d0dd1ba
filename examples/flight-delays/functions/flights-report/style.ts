import { palette } from './draw.ts';

/** The style sheet of the report. */
export const style = `
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; background: #f5f7f9; color: ${palette.ink};
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 40px 24px 56px; }
header p, footer { color: ${palette.muted}; }
h1 { font-size: clamp(30px, 5vw, 44px); line-height: 1.1; letter-spacing: -.02em; margin: 0 0 10px; }
header p { font-size: 18px; max-width: 62ch; margin: 0; }
h2 { font-size: 22px; line-height: 1.25; letter-spacing: -.01em; margin: 0 0 4px; }
section > p { color: ${palette.muted}; margin: 0 0 16px; max-width: 75ch; }
dl.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(180px, 1fr)); gap: 14px; margin: 28px 0; }
dl.figures div { background: #fff; border: 1px solid ${palette.line}; border-radius: 12px; padding: 16px 18px; display: flex; flex-direction: column; }
dl.figures dt { color: ${palette.muted}; font-size: 14px; }
dl.figures dd { margin: 0; }
dl.figures dd.value { font-size: 30px; font-weight: 650; letter-spacing: -.02em; line-height: 1.25; font-variant-numeric: tabular-nums; }
dl.figures dd.more { color: ${palette.muted}; font-size: 14px; margin-top: auto; }
dl.figures .accent .value { color: ${palette.late}; }
section { background: #fff; border: 1px solid ${palette.line}; border-radius: 12px; padding: 24px 28px; margin: 0 0 18px; }
figure { margin: 0; }
.scroll { overflow-x: auto; }
figure svg { display: block; width: 100%; height: auto; min-width: 640px; }
details { margin-top: 12px; }
summary { cursor: pointer; color: ${palette.flights}; font-size: 14px; width: fit-content; }
summary:focus-visible { outline: 2px solid ${palette.flights}; outline-offset: 3px; border-radius: 3px; }
table { border-collapse: collapse; font-size: 14px; margin-top: 12px; min-width: 420px; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: ${palette.muted}; padding-bottom: 6px; }
th, td { padding: 5px 22px 5px 0; border-bottom: 1px solid ${palette.line}; text-align: right; white-space: nowrap; }
th:first-child { text-align: left; }
thead th { color: ${palette.muted}; font-weight: 500; }
tbody th { font-weight: 500; }
code { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
footer { font-size: 14px; padding: 6px 4px; max-width: 90ch; }
footer h2 { font-size: 15px; color: ${palette.ink}; margin-top: 14px; }
footer p { margin: 4px 0; }
@media (max-width: 560px) { main { padding: 28px 14px; } section { padding: 18px 16px; } }
@media print { body { background: #fff; } section, dl.figures div { break-inside: avoid; } main { padding: 0; } }
`;
