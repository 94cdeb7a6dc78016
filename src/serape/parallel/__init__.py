"""Work on many items at once: processes, threads, steps computed beforehand."""
