import { describe, expect, test } from 'bun:test';
import { createLink } from '../../src/http/tasks/answer.ts';
import type { GenerationPorts } from '../../src/http/tasks/ports.ts';

const ports = (public_url?: string): GenerationPorts => ({
  tasks: {
    create: () => Promise.reject(),
    find: () => Promise.reject(),
    watch: () => Promise.reject(),
    cancel: () => Promise.reject(),
  },
  filePath: (name) => `/v1/files/${name}?signature=s`,
  openFile: async () => undefined,
  public_url,
});
const request = new Request('http://localhost:3000/v1/tasks/x?a=b');

describe('the link to a result', () => {
  test.each([
    [undefined, 'http://localhost:3000/v1/files/a.png?signature=s'],
    ['https://weir.example.com', 'https://weir.example.com/v1/files/a.png?signature=s'],
    ['https://example.com/weir/', 'https://example.com/weir/v1/files/a.png?signature=s'],
  ])('with WEIR_PUBLIC_URL %s', (public_url, expected) => {
    expect(createLink(request, ports(public_url))('a.png')).toBe(expected);
  });
});
