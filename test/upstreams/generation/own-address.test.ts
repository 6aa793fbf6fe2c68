/** To which addresses the key of an account may go: pairs of hosts under many public suffixes. */
import { describe, expect, test } from 'bun:test';
import { isOwnAddress } from '../../../src/upstreams/generation/own-address.ts';

/** Domains under which every name has another owner (Public Suffix List), and ordinary domains. */
const SUFFIXES = [
  ...['com', 'ai', 'co.uk', 'com.au', 'co.jp', 'com.cn', 'gov.uk', 'k12.ca.us', 'bfl.ai.evil.com'],
  ...['azure.com', 'openai.azure.com', 'cognitiveservices.azure.com', 'azurewebsites.net'],
  ...['run.app', 'us-central1.run.app', 'appspot.com', 'cloudfunctions.net', 'web.app'],
  ...['amazonaws.com', 'execute-api.us-east-1.amazonaws.com', 's3.amazonaws.com', 'cloudfront.net'],
  ...['vercel.app', 'workers.dev', 'pages.dev', 'herokuapp.com', 'fly.dev', 'onrender.com'],
  ...['github.io', 'hf.space', 'modal.run', 'ngrok.app', 'ngrok-free.app', 'trycloudflare.com'],
];

/** Hosts of two owners under a suffix, and the suffix itself. */
const hostsUnder = (suffix: string) => [
  suffix,
  ...['pictures', 'evil'].flatMap((owner) => [`${owner}.${suffix}`, `api.${owner}.${suffix}`]),
  `evilpictures.${suffix}`,
];

const OWN_DOMAIN = 'bfl.ai';

describe.each(SUFFIXES)('hosts under %s', (suffix) => {
  test.each([undefined, OWN_DOMAIN])('are foreign to each other; own domain: %p', (own_domain) => {
    for (const own of hostsUnder(suffix)) {
      for (const other of hostsUnder(suffix)) {
        const pair = [`https://${own}/v1`, `https://${other}/jobs/1`] as const;
        expect([...pair, isOwnAddress(...pair, own_domain)]).toEqual([...pair, own === other]);
      }
    }
  });
});

const BASE = 'https://api.pictures.co.uk/v1';

test.each([
  ['https://api.pictures.co.uk/jobs/1?a=b', true],
  ['https://api.pictures.co.uk:443/jobs/1', true],
  ['https://API.Pictures.co.uk/jobs/1', true],
  ['http://api.pictures.co.uk/jobs/1', false],
  ['https://api.pictures.co.uk:8443/jobs/1', false],
  ['https://api.pictures.co.uk./jobs/1', false],
  ['https://api.pictures.co.uk@evil.example/jobs/1', false],
  ['https://user@api.pictures.co.uk/jobs/1', false],
  ['https://evil.example/api.pictures.co.uk', false],
  ['https://evil.example\\@api.pictures.co.uk/', false],
  ['https://api.pictures.co.uk\\@evil.example/', true],
  ['//evil.example/jobs/1', false],
  ['https://', false],
])('%s belongs to the provider: %p', (url, expected) => {
  // The URL parser reads a backslash as a slash, so the last host is a part of the path.
  expect(isOwnAddress(BASE, url)).toBe(expected);
});

test.each([
  ['https://api.bfl.ai/v1', 'https://api.us1.bfl.ai/v1/get_result?id=1', true],
  ['https://api.bfl.ai/v1', 'https://api.eu.bfl.ai/v1/get_result?id=1', true],
  ['https://api.eu.bfl.ai/v1', 'https://api.bfl.ai/v1/get_result?id=1', true],
  ['https://api.bfl.ai/v1', 'http://api.us1.bfl.ai/v1/get_result?id=1', false],
  ['https://api.bfl.ai/v1', 'https://api.us1.bfl.ai:8443/v1/get_result?id=1', false],
  ['https://api.bfl.ai/v1', 'https://notbfl.ai/v1/get_result?id=1', false],
  ['https://api.bfl.ai/v1', 'https://api.bfl.ai.evil.example/v1/get_result?id=1', false],
  ['https://api.bfl.ai/v1', 'https://bfl.ai@evil.example/v1/get_result?id=1', false],
  ['http://api.bfl.ai/v1', 'https://api.us1.bfl.ai/v1/get_result?id=1', false],
  ['https://relay.example/v1', 'https://api.us1.bfl.ai/v1/get_result?id=1', false],
  ['https://relay.example/v1', 'https://relay.example/v1/get_result?id=1', true],
])('with its domain bfl.ai, the provider at %s owns %s: %p', (base_url, url, expected) => {
  expect(isOwnAddress(base_url, url, OWN_DOMAIN)).toBe(expected);
});
