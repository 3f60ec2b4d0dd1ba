const [server, run] = process.argv.slice(2);
const answer = await fetch(`${server}/v1/live-tickets`, { method: 'POST' });
const { url, ticket } = (await answer.json()) as { url: string; ticket: string };
const socket = new WebSocket(`${url}?ticket=${ticket}`);
socket.onopen = () => socket.send(JSON.stringify({ action: 'subscribe', run }));
socket.onmessage = ({ data }) => console.log(data);
