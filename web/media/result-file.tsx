import { useRef, useState } from 'react';

/** What the endings of a stored file mean. The server sends the type of the ending, and forbids others. */
const SHOWN: Readonly<Record<string, 'image' | 'video' | 'audio'>> = {
  ...{ png: 'image', jpg: 'image', webp: 'image', gif: 'image' },
  ...{ mp4: 'video', webm: 'video', mov: 'video' },
  ...{ mp3: 'audio', m4a: 'audio', wav: 'audio', ogg: 'audio', flac: 'audio' },
};

/** A file that a model made. */
export interface MadeFile {
  /** The signed address in the API's answer. */
  readonly url: string;
  /** What it is, for readers that cannot see it. */
  readonly title: string;
}

/**
 * Returns the path of a stored file on this server, and how a page may show it. An SVG or any other file
 * could run as a program in the page's origin, so it is only offered for download. Undefined if the
 * address is no stored file.
 */
function shownFile(
  url: string,
): { path: string; shown: 'image' | 'video' | 'audio' | 'file' } | undefined {
  const parsed = URL.parse(url, location.origin);
  if (!parsed?.pathname.startsWith('/v1/files/')) return undefined;
  const ending = /\.([a-z0-9]+)$/.exec(parsed.pathname)?.[1] ?? '';
  return { path: parsed.pathname + parsed.search, shown: SHOWN[ending] ?? 'file' };
}

/** The address of a file that is shown, and what became of it. */
interface StablePath {
  readonly path: string;
  /** True if the newest address could not be loaded either. */
  readonly isLost: boolean;
  /** Takes the newest address. Called after an error. */
  readonly renew: () => void;
  readonly tryAgain: () => void;
}

/**
 * Keeps the first signed address of a file: each answer has a new signature, and a player that gets a new
 * address begins again. After an error the newest is taken.
 */
function useStablePath(path: string): StablePath {
  const kept = useRef(path);
  const [lost, lose] = useState<string>();
  if (kept.current.split('?')[0] !== path.split('?')[0]) kept.current = path;
  return {
    path: kept.current,
    isLost: lost === kept.current,
    renew: () => {
      lose(kept.current === path ? path : '');
      kept.current = path;
    },
    tryAgain: () => lose(undefined),
  };
}

/** A file that a model made: an image, a video, a sound, or a download. */
export function ResultFile({ url, title }: MadeFile) {
  const file = shownFile(url);
  const { path, isLost, renew, tryAgain } = useStablePath(file?.path ?? '');
  if (!file) return <p className="text-soft">The result is not stored here.</p>;
  if (isLost) {
    return (
      <p role="status" className="rounded-control bg-warn-soft px-3 py-1.5 text-sm text-warn">
        The file could not be read.{' '}
        <button type="button" className="underline" onClick={tryAgain}>
          Try again
        </button>
      </p>
    );
  }
  return (
    <figure className="grid min-w-0 justify-items-start gap-1.5">
      {file.shown === 'image' ? (
        <img
          src={path}
          alt={title}
          onError={renew}
          className="max-h-[32rem] max-w-full rounded-box border border-line bg-sunk"
        />
      ) : null}
      {file.shown === 'video' ? (
        // biome-ignore lint/a11y/useMediaCaption: a generated video has no captions
        <video
          src={path}
          controls
          preload="metadata"
          aria-label={title}
          onError={renew}
          className="max-h-[32rem] max-w-full rounded-box border border-line bg-sunk"
        />
      ) : null}
      {file.shown === 'audio' ? (
        // biome-ignore lint/a11y/useMediaCaption: a generated sound has no captions
        <audio
          src={path}
          controls
          preload="metadata"
          aria-label={title}
          onError={renew}
          className="w-full max-w-md"
        />
      ) : null}
      <figcaption className="text-sm">
        <a href={path} download className="text-accent underline">
          Download {file.path.split('?')[0]?.split('/').at(-1)}
        </a>
      </figcaption>
    </figure>
  );
}

/** A small picture of a result in a list. Nothing for results that are no images. */
export function Thumbnail({ url, title }: MadeFile) {
  const file = shownFile(url);
  const { path, renew } = useStablePath(file?.path ?? '');
  if (file?.shown !== 'image') return null;
  return (
    <img
      src={path}
      alt={title}
      loading="lazy"
      onError={renew}
      className="size-10 shrink-0 rounded-control border border-line bg-sunk object-cover"
    />
  );
}
