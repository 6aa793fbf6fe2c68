import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { assertStoredName, contentTypeOf, type FileStorage, type StoredFile } from './storage.ts';

/**
 * Files in a folder. A file is written under a temporary name and then renamed. So after a crash,
 * no incomplete file has the name of a stored file.
 */
export class FolderStorage implements FileStorage {
  constructor(private readonly folder: string) {}

  async put(name: string, bytes: Uint8Array | Blob | ReadableStream): Promise<void> {
    const path = this.pathOf(name);
    const unfinished = `${path}.${Bun.randomUUIDv7()}.tmp`;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    try {
      await Bun.write(unfinished, new Response(bytes));
      await rename(unfinished, path);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
  }

  async open(name: string): Promise<StoredFile | undefined> {
    const file = Bun.file(this.pathOf(name));
    if (!(await file.exists())) return undefined;
    return {
      stream: (start = 0, end = file.size) => file.slice(start, end).stream(),
      size_bytes: file.size,
      content_type: contentTypeOf(name),
    };
  }

  async delete(name: string): Promise<void> {
    await rm(this.pathOf(name), { force: true });
  }

  private pathOf(name: string): string {
    assertStoredName(name);
    return join(this.folder, name);
  }
}
