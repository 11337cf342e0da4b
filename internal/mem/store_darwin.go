package mem

import "os"

// nameless opens a file and takes its name away: macOS has no memory files.
func nameless() (*os.File, error) {
	f, err := os.CreateTemp("", "gocuda")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// punchHole writes zeros: F_PUNCHHOLE works on some file systems only.
func punchHole(f *os.File, off, n uint64) error {
	zeros := make([]byte, min(n, 1<<20))
	for end := off + n; off < end; off += uint64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(uint64(len(zeros)), end-off)], int64(off)); err != nil {
			return err
		}
	}
	return nil
}
