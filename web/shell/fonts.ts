import sansExtended from '@fontsource-variable/geist/files/geist-latin-ext-wght-normal.woff2';
import sans from '@fontsource-variable/geist/files/geist-latin-wght-normal.woff2';
import mono from '@fontsource-variable/geist-mono/files/geist-mono-latin-wght-normal.woff2';

/** The characters of each file. The browser fetches a file when a page has one of its characters. */
const LATIN =
  'U+0000-00FF, U+0131, U+0152-0153, U+02BB-02BC, U+02C6, U+02DA, U+02DC, U+2000-206F, U+20AC, U+2122, U+2191, U+2193, U+2212, U+2215';
const LATIN_EXTENDED =
  'U+0100-0130, U+0132-0151, U+0154-02BA, U+02BD-02C5, U+1E00-1EFF, U+20A0-20AB, U+20AD-20C0';

/** Registers the faces of the dashboard. They come from Weir itself, so pages work offline. */
export function registerFonts(): void {
  const face = (family: string, file: string, unicodeRange: string) =>
    document.fonts.add(
      new FontFace(family, `url(${file})`, { weight: '100 900', display: 'swap', unicodeRange }),
    );
  face('Geist Variable', sans, LATIN);
  face('Geist Variable', sansExtended, LATIN_EXTENDED);
  face('Geist Mono Variable', mono, LATIN);
}
