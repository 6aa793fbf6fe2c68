/**
 * Returns a page that shows Stately's inspector in a frame, and passes the frames of the WebSocket of its own
 * address on to it. The page sends them to the origin of the inspector and to no other.
 */
export function inspectorPage(inspector: URL): string {
  // `<` could end the script.
  const literal = (text: string) => JSON.stringify(text).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Weir in the Stately inspector</title>
<style>html, body, iframe { margin: 0; border: 0; width: 100%; height: 100%; display: block }</style>
</head>
<body>
<iframe title="Stately inspector"></iframe>
<script>
const origin = ${literal(inspector.origin)};
const frame = document.querySelector('iframe');
let waiting = [];
addEventListener('message', ({ data, origin: from, source }) => {
  if (from !== origin || source !== frame.contentWindow) return;
  if (data?.type !== '@statelyai.connected') return;
  for (const each of waiting ?? []) frame.contentWindow.postMessage(each, origin);
  waiting = undefined;
});
new WebSocket('ws://' + location.host).onmessage = ({ data }) => {
  const each = JSON.parse(data);
  if (waiting) waiting.push(each);
  else frame.contentWindow.postMessage(each, origin);
};
frame.src = ${literal(inspector.href)};
</script>
</body>
</html>
`;
}
