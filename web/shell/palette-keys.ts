import { useEffect } from 'react';

/** Opens the palette with ⌘K, Ctrl-K or `/`, unless the reader is typing. */
export function usePaletteKeys(open: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof Element &&
        event.target.closest('input, textarea, select, [contenteditable]') !== null;
      const isCommand = event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey);
      if (!isCommand && (event.key !== '/' || isTyping)) return;
      const search = document.querySelector<HTMLElement>('[data-search]');
      event.preventDefault();
      if (event.key === '/' && search) search.focus();
      else open();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [open]);
}
