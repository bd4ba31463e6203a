/**
 * Installs what is missing, exactly as the lock file pins it. Runs before the tests and the quickstart; does nothing where
 * everything is there.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';

function isInstalled() {
  const marker = 'node_modules/.package-lock.json';
  if (!existsSync(marker)) return false;
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const installed = JSON.parse(readFileSync(marker, 'utf8')).packages;
  const isCurrent = Object.entries(packages).every(
    ([path, { version, optional }]) => path === '' || optional === true || installed[path]?.version === version,
  );
  return isCurrent && statSync('node_modules').isDirectory();
}

if (!isInstalled()) {
  console.error('installing what package-lock.json pins …');
  const { status } = spawnSync('npm', ['ci', '--no-fund', '--no-audit'], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
