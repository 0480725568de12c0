// Package fetch gets the source of real projects from the module proxy, to measure and compare on.
//
//	err := fetch.Module(ctx, "sigs.k8s.io/karpenter@v1.8.0", dir)
package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// ErrNotAvailable says that the proxy does not have a module.
var ErrNotAvailable = errors.New("cannot be downloaded")

// Module copies a module, given with its version, to a folder, which is made. Its files can be written to, unlike those
// of the module cache.
func Module(ctx context.Context, module, to string) error {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	cmd.Dir = os.TempDir() // in no module
	told, err := cmd.Output()
	var found struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(told, &found); err != nil || jsonErr != nil || found.Dir == "" {
		return fmt.Errorf("%s %w: %s", module, ErrNotAvailable, found.Error)
	}
	return Tree(found.Dir, to)
}

// Tree copies a folder, with files that can be written to.
func Tree(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), data, 0o644)
	})
}
