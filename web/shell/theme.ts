import { useState } from 'react';

const YEAR_S = 31_536_000;

/** Light, dark, or as the system is. */
export type Theme = 'system' | 'light' | 'dark';
const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

/** The reader's theme. The server knows it from a cookie, so that no page flashes. */
export function useTheme(): { theme: Theme; next: Theme; choose: (theme: Theme) => void } {
  const [theme, setTheme] = useState<Theme>(() => {
    const { theme: chosen } = document.documentElement.dataset;
    return chosen === 'light' || chosen === 'dark' ? chosen : 'system';
  });
  const choose = (chosen: Theme) => {
    const { dataset } = document.documentElement;
    if (chosen === 'system') delete dataset['theme'];
    else dataset['theme'] = chosen;
    const age = chosen === 'system' ? 0 : YEAR_S;
    // biome-ignore lint/suspicious/noDocumentCookie: the server reads it before the first paint
    document.cookie = `weir-theme=${chosen}; path=/; max-age=${age}; samesite=lax`;
    setTheme(chosen);
  };
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';
  return { theme, next, choose };
}
