/**
 * Names the requirement that a test shows. The ids stand in `test/requirements`.
 */
export function verifies(_id: string): void {}
