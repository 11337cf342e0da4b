"""Makes the lines of clients/run from what `cargo test` prints; the argument goes in front of the names."""
import re, sys

prefix, results, why, at = sys.argv[1], {}, {}, None
for line in sys.stdin:
    print(line, end="", file=sys.stderr)
    line = line.rstrip("\n")
    if m := re.match(r"test (\S+)(?: - should panic)? \.\.\. (ok|FAILED|ignored)(?:, (.*))?$", line):
        results[m[1]] = m[2]
        if m[3]:
            why[m[1]] = m[3]
    elif m := re.match(r"test (\S+) has been running", line):
        pass
    elif m := re.match(r"test (\S+)(?: - should panic)? \.\.\. ?$", line):
        results[m[1]] = "FAILED"  # the process ended in it, or it prints
        why[m[1]] = "the process ended"
    elif m := re.match(r"---- (\S+) stdout ----", line):
        at = m[1]
        why[at] = ""
    elif at and line and not line.startswith(("note:", "stack backtrace")):
        why[at] = (why[at] + " " + line).strip() if len(why[at]) < 300 else why[at]
    elif not line and at and why[at]:
        at = None
for name, result in results.items():
    kind = {"ok": "pass", "FAILED": "fail", "ignored": "skip"}[result]
    print("\t".join(x for x in (kind, prefix + name, " ".join(why.get(name, "").split())[:300]) if x))
if not results:
    sys.exit("no test ran")
