"""A pytest plugin (-p pytest_lines) that prints the lines of clients/run; LINES_PREFIX goes in front of the names. LINES_FD is the file descriptor for them, where
pytest's own output is to go elsewhere (1, unless told)."""
import os, sys

prefix = os.environ.get("LINES_PREFIX", "")
out = os.fdopen(int(os.environ["LINES_FD"]), "w") if "LINES_FD" in os.environ else sys.__stdout__


def say(kind, name, why=""):
    why = " ".join(why.split())[:300]
    print("\t".join(x for x in (kind, prefix + name, why) if x), file=out, flush=True)


def pytest_runtest_logreport(report):
    name = report.nodeid.split("/")[-1]
    if report.skipped and (report.when == "setup" or report.when == "call"):
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if hasattr(report, "wasxfail"):
            why = "expected to fail: " + report.wasxfail.removeprefix("reason: ")
        say("skip", name, why)
    elif report.failed:
        text = str(report.longrepr).strip().splitlines()
        errors = [l[1:].strip() for l in text if l.startswith("E ")]
        say("fail", name, errors[0] if errors else (text[-1] if text else ""))
    elif report.when == "call":
        say("pass", name)


def pytest_collectreport(report):
    if report.failed:
        say("fail", report.nodeid.split("/")[-1] + " (collection)", str(report.longrepr).strip().splitlines()[-1])
