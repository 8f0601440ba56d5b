"""One job in a process of its own; prints the most bytes it held: python -m benchmarks.peak.

Nothing is imported here beyond what the bare import needs, so that the difference of two
runs is the job's. On Linux the figure is VmHWM, which begins afresh with the process;
elsewhere it is ru_maxrss.
"""

import resource
import sys
from pathlib import Path

import dsh_fp

STATUS = Path("/proc/self/status")
OPEN_FILES = 4096


def peak_bytes() -> int:
    """The high-water mark of this process."""
    if STATUS.exists():
        for line in STATUS.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def resume_all(root: str) -> object:
    """A store with every session below a root resumed, and what records it."""
    # Each writer keeps its lock file open.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    enough = OPEN_FILES if most == resource.RLIM_INFINITY else min(OPEN_FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (enough, most))
    store = dsh_fp.SessionStore()
    recorder = dsh_fp.Recorder(store, dsh_fp.JsonlBackend(root))
    for listing in recorder.backend.list():
        if listing.header is not None:
            recorder.resume(listing.header.id)
    return store, recorder


def run(job: str, path: str) -> object:
    """What the job keeps alive."""
    if job == "resume":
        return resume_all(path)
    log_file = dsh_fp.read(Path(path)).unwrap()
    session = log_file.session
    if job == "read":
        return log_file
    final = session.messages().unwrap(), session.request_header().unwrap()
    if job == "final":
        return log_file, final
    if job == "requests":
        return log_file, final, [request.messages for request in dsh_fp.past_requests(session)]
    raise SystemExit(f"unknown job {job!r}")


def main() -> None:
    """Do the job, print the peak."""
    job, *rest = sys.argv[1:]
    kept = None if job == "import" else run(job, *rest)
    print(peak_bytes())
    del kept


if __name__ == "__main__":
    main()
