/** Saves a text as a file of the person who looks at the page. `name` is without its end. */
export function saveFile(name: string, end: 'json' | 'svg', text: string): void {
  const type = end === 'svg' ? 'image/svg+xml' : 'application/json';
  const address = URL.createObjectURL(new Blob([text], { type }));
  const file = `weir-${name.replace(/[^\w.-]/g, '_').slice(0, 100)}.${end}`;
  Object.assign(document.createElement('a'), { href: address, download: file }).click();
  URL.revokeObjectURL(address);
}
