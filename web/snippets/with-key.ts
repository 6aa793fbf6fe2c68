/**
 * Puts an API key into a snippet, where it names the variable `WEIR_KEY`. Only for the moment in which the
 * key is shown.
 */
export function withKey(snippet: string, key: string): string {
  return snippet
    .replaceAll('process.env.WEIR_KEY', `'${key}'`)
    .replaceAll('os.environ["WEIR_KEY"]', `"${key}"`)
    .replaceAll('$WEIR_KEY', key)
    .replace(/^import os\n/, '');
}
