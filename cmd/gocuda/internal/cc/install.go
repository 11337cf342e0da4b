package cc

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
)

// Install writes a tree of files into a folder of cache that is named by name and the contents, and returns its path.
// It does nothing when the folder is there: folders appear whole, so several processes may install at once. Go sources
// are left out.
func Install(cache, name string, tree fs.FS) (string, error) {
	var all []File
	err := fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) == ".go" {
			return err
		}
		b, err := fs.ReadFile(tree, path)
		all = append(all, File{path, b})
		return err
	})
	if err != nil {
		return "", err
	}
	return InstallFiles(cache, name, all...)
}

// File is a file to install: its path with slashes, and what is in it.
type File struct {
	Path string
	Data []byte
}

// InstallFiles is Install of single files.
func InstallFiles(cache, name string, files ...File) (string, error) {
	h := sha256.New()
	for _, f := range files {
		h.Write([]byte(f.Path + "\x00"))
		h.Write(f.Data)
		h.Write([]byte{0})
	}
	dir := filepath.Join(cache, name+"-"+hex.EncodeToString(h.Sum(nil)[:8]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(cache, name+"-*.new")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	if err := os.Chmod(tmp, 0o755); err != nil {
		return "", err
	}
	for _, f := range files {
		p := filepath.Join(tmp, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(p, f.Data, 0o644); err != nil {
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
