/**
 * Names that reach git or a file system: branches, paths, targets. Pure.
 *
 * It promises: a name that passes means to git exactly what it says, can't be read as an option, and leads neither out
 * of the repository nor into its `.git`, on any file system that git runs on.
 * Source: spec actions (git), packages (logical_path), reliability T29; git-check-ref-format(1); git's `is_ntfs_dotgit`
 * and `is_hfs_dotgit`.
 */
import { GIT_LIMITS } from './limits.js';

/** Where an action goes: a repository by its alias, and a branch of it. */
export interface Target {
  readonly alias: string;
  /** Without `refs/heads/`. */
  readonly branch: string;
}

export const ALIAS = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

const BRANCH_REFUSED =
  /[\p{Cc}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}~^:?*[\\]|\.\.|@\{|\/\/|\/$|^\/|\.$|^-/u;

/** Whether `refs/heads/<name>` is a ref that git accepts, written in one way only. */
export function isBranchName(name: string): boolean {
  if (name.length === 0 || name.length > GIT_LIMITS.branchCharsMax || !isPlain(name)) return false;
  if (BRANCH_REFUSED.test(name) || name === '@' || name === 'HEAD') return false;
  return name.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock') && !isDotGit(part));
}

/** `alias#branch`; undefined unless both parts are well-formed. */
export function parseTarget(target: string): Target | undefined {
  const at = target.indexOf('#');
  const alias = target.slice(0, at);
  const branch = target.slice(at + 1);
  return at > 0 && ALIAS.test(alias) && isBranchName(branch) ? { alias, branch } : undefined;
}

/** Whether a path may be written: relative, plain segments, nothing invisible, no `.git` in any guise. */
export function isWritablePath(path: string): boolean {
  if (path.length === 0 || path.length > GIT_LIMITS.pathCharsMax || !isPlain(path)) return false;
  if (/[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\\:]/u.test(path)) return false;
  return path.split('/').every(isTreeSegment);
}

/** Whether a name that stands in a tree leads where it seems to. */
export function isTreeSegment(segment: string): boolean {
  return segment !== '' && segment !== '.' && segment !== '..' && !isDotGit(segment);
}

/**
 * Whether a file system could take this segment for `.git`: any case, the short name `git~1` (any number), trailing
 * dots and spaces and streams (`.git::$INDEX_ALLOCATION`) as NTFS drops them, code points that HFS+ ignores,
 * compatibility forms, and a backslash as a separator. Wider than git's own check.
 */
export function isDotGit(segment: string): boolean {
  return segment.split('\\').some((part) => {
    const folded = part
      .normalize('NFKC')
      .replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '')
      .toLowerCase();
    return /^(?:\.git|git~\d+)[. ]*(?::.*)?$/s.test(folded);
  });
}

/** Well-formed and in Unicode's composed form, so that one name has one spelling. */
function isPlain(text: string): boolean {
  return !/\p{Cs}/u.test(text) && text.normalize('NFC') === text;
}
