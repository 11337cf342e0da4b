"""Runs the test suite inside the numba-cuda package, one process for each module, and prints the lines of clients/run.

A module that is stopped or crashes is itself a failure, after the results that it printed until then."""
import argparse, concurrent.futures, importlib, os, pathlib, re, subprocess, sys, threading, unittest

SUITE = "numba.cuda.tests"
FOLDERS = ["cudadrv", "cudapy", "core", "nocuda", "nrt", "doc_examples"]  # cudasim is for the simulator

# Modules with tests that need a second device, of another compute capability: with the software device they have it.
TWO_DEVICES = ["cudadrv.test_context_stack", "cudadrv.test_runtime", "cudapy.test_caching", "cudapy.test_multigpu"]


class Lines(unittest.TestResult):
    def say(self, kind, test, why=""):
        name = test.id()
        m = re.match(r"(\w+) \((.*)\)$", name)  # setUpClass (module.Class)
        if m:
            name = m[2] + "." + m[1]
        name = name.removeprefix(SUITE + ".")
        why = " ".join(str(why).split())[:300]
        print("\t".join(x for x in ("@" + kind, name, why) if x), file=sys.__stdout__, flush=True)

    def startTest(self, test):
        super().startTest(test)
        print("@start\t" + test.id().removeprefix(SUITE + "."), file=sys.__stdout__, flush=True)
        self.bad = None

    def error(self, test, err):
        if err[0].__name__ == "Skipped":  # pytest.importorskip in a unittest
            self.addSkip(test, err[1])
            return
        self.bad = f"{err[0].__name__}: {err[1]}"
        if not hasattr(test, "_testMethodName"):
            self.say("fail", test, self.bad)  # a class or a module that cannot be set up

    def addError(self, test, err):
        self.error(test, err)

    def addFailure(self, test, err):
        self.error(test, err)

    def addSubTest(self, test, sub, err):
        if err:
            self.bad = f"{sub._subDescription()}: {err[0].__name__}: {err[1]}"

    def addSkip(self, test, why):
        self.say("skip", test, why)
        self.bad = False

    def addUnexpectedSuccess(self, test):
        self.bad = "unexpected success"

    def stopTest(self, test):
        super().stopTest(test)
        if self.bad:
            self.say("fail", test, self.bad)
        elif self.bad is None:
            self.say("pass", test)


def child(module):
    sys.stdout = sys.stderr  # tests print
    try:
        importlib.import_module(module)
    except unittest.SkipTest as e:
        print("\t".join(("@skip", module.removeprefix(SUITE + "."), str(e))), file=sys.__stdout__, flush=True)
        return
    except ImportError as e:
        print("\t".join(("@fail", module.removeprefix(SUITE + "."), f"{type(e).__name__}: {e}")), file=sys.__stdout__, flush=True)
        return
    unittest.defaultTestLoader.loadTestsFromName(module).run(Lines())


def run(module, limit, out):
    env = dict(os.environ)
    if module.removeprefix(SUITE + ".") in TWO_DEVICES:
        env["GOCUDA_PROFILE"] = "h200,a100"
    p = subprocess.Popen([sys.executable, __file__, "--child", module], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace", env=env)
    timer = threading.Timer(limit, p.kill)
    timer.start()
    open_test = None
    for line in p.stdout:
        if not line.startswith("@"):
            continue
        part = line[1:].rstrip("\n").split("\t")
        if part[0] == "start":
            open_test = part[1]
            continue
        open_test = None
        out("\t".join(part))
    code = p.wait()
    if code:
        late = not timer.is_alive()
        why = f"stopped after {limit} s" if late else f"the process ended with status {code}"
        out("\t".join(("fail", open_test or module.removeprefix(SUITE + "."), why)))
    timer.cancel()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("modules", nargs="*")
    ap.add_argument("--child")
    ap.add_argument("--limit", type=int, default=900, help="seconds for one module")
    ap.add_argument("--jobs", type=int, default=int(os.environ.get("CLIENT_JOBS", os.cpu_count() or 1)))
    args = ap.parse_args()
    if args.child:
        return child(args.child)
    suite = importlib.import_module("numba.cuda.tests")
    root = pathlib.Path(suite.__path__[0])
    modules = args.modules or [f"{SUITE}.{f}.{p.stem}" for f in FOLDERS for p in sorted((root / f).glob("test_*.py"))]
    lock = threading.Lock()

    def out(line):
        with lock:
            print(line, flush=True)

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(lambda m: run(m, args.limit, out), modules))


if __name__ == "__main__":
    main()
