/** Calls `listener` when the theme changed: by the person, or by the system. Returns a function that ends this. */
export function onTheme(listener: () => void): () => void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  dark.addEventListener('change', listener);
  const chosen = new MutationObserver(listener);
  chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => {
    dark.removeEventListener('change', listener);
    chosen.disconnect();
  };
}
