// Package include holds the headers of CUDA C++ that programs include, written from NVIDIA's public documentation, and
// installs them where a compiler can read them.
package include

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed *.h *.hpp crt gocuda
var files embed.FS

// FS has the headers under the names that programs include them by.
func FS() fs.FS { return files }

// Install writes the headers into a folder of cache that is named by their contents, and returns its path. It does
// nothing when the folder is there: folders appear whole, so several processes may install at once.
func Install(cache string) (string, error) { return install(files, cache, "include-") }

// install writes a tree of files into cache.
func install(tree fs.FS, cache, prefix string) (string, error) {
	type file struct {
		name string
		data []byte
	}
	var all []file
	h := sha256.New()
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) == ".go" {
			return err
		}
		b, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		h.Write([]byte(name + "\x00"))
		h.Write(b)
		h.Write([]byte{0})
		all = append(all, file{name, b})
		return nil
	})
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, prefix+hex.EncodeToString(h.Sum(nil)[:8]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(cache, prefix+"*.new")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	if err := os.Chmod(tmp, 0o755); err != nil {
		return "", err
	}
	for _, f := range all {
		p := filepath.Join(tmp, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(p, f.data, 0o644); err != nil {
			return "", err
		}
	}
	if err := os.Rename(tmp, dir); err != nil {
		if _, there := os.Stat(dir); there == nil {
			return dir, nil // another process was first
		}
		return "", err
	}
	return dir, nil
}
