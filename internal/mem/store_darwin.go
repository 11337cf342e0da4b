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
